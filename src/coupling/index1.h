/* The inside of the scheme index1 (see index1.c): polynomials of the multipliers, directions of their efforts, and the
 * links between interfaces and subsystems.
 *
 * Unknowns are numbered by interface, then by free parameter, then by row; equations by interface, then by level, then
 * by row, so that the Jacobian is square with one dense block per pair of interfaces that meet in a subsystem. */
#ifndef YK_COUPLING_INDEX1_H
#define YK_COUPLING_INDEX1_H

#include "coupling/constraint.h"
#include "coupling/jacobian.h"
#include "coupling/ledger.h"
#include "coupling/path.h"
#include "coupling/system.h"

enum { YK_INDEX1_MOTIONS = 2 }; /* place and velocity at the end of a step, of what a law is told */
enum { YK_INDEX1_PARAMETERS = 3, YK_INDEX1_NODES = YK_SIGNAL_COEFFICIENTS };

/* The polynomials of one degree, in tau = (t - T) / H (see index1_basis.c). */
typedef struct yk_index1_basis {
    int degree;
    int parameters; /* free ones of every multiplier, and conditions at the end of the step */
    double shape[YK_INDEX1_PARAMETERS][YK_SIGNAL_COEFFICIENTS]; /* p_1 to p_3 in powers of tau */
    double condition[YK_INDEX1_PARAMETERS][YK_LEVELS];          /* weights of g / H^2, g' / H, g'' */
    double moment[YK_INDEX1_PARAMETERS][YK_LEVELS];             /* laws: of L1, L2, L3 */
    double node[YK_INDEX1_NODES];                               /* where the directions of efforts are taken */
    double lagrange[YK_INDEX1_NODES][YK_SIGNAL_COEFFICIENTS];   /* 1 at its node, 0 at the others; powers of tau */
    double weight[YK_INDEX1_NODES];                             /* of quadrature over [0, 1] */
} yk_index1_basis;

yk_index1_basis yk_index1_basis_of(int degree);

/* A multiplier over the step. */
typedef struct yk_index1_multiplier {
    double power[YK_SIGNAL_COEFFICIENTS]; /* of tau */
} yk_index1_multiplier;

/* What the scheme keeps of one interface. */
typedef struct yk_index1_link {
    yk_constraint constraint;
    const yk_index1_basis *basis;                          /* of the present step */
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];    /* over the present step, or the last one */
    yk_index1_multiplier last[YK_JOINT_ROWS_MAX];          /* over the last step, while the present one is made */
    double trend[YK_JOINT_ROWS_MAX];                       /* change of their means from the last step but one to it */
    bool repeats;                                          /* they are predicted as what they were (see predict) */
    yk_effort unit[2][YK_INDEX1_NODES][YK_JOINT_ROWS_MAX]; /* effort of a unit multiplier at each node */
    yk_motion earlier[2];                                  /* of both sides at the start of the last step */
    yk_effort mean[2];                                     /* on both sides over their present substep ... */
    yk_effort last_mean[2];                                /* ... and over the last one of the last step; see below */
    yk_constraint_gradient gradient;                       /* of the constraint at the end of the step */
    yk_motion predicted[2];                                /* at the end of the step with the predicted multipliers */
    double told[YK_INDEX1_MOTIONS];                        /* laws: where side B will be at the end of the step */
} yk_index1_link;

/* A wire that is solved for: its source gives at the end of the step what its target was told. */
typedef struct yk_index1_wire {
    int wire;
    double end;     /* of the step */
    double earlier; /* at the start of the last step; part of the state */
} yk_index1_wire;

/* The size of what is left of the conditions, and of the numbers that they are differences of. */
typedef struct yk_index1_residual {
    double largest; /* of the scaled conditions on motions */
    double motion;
    double lack; /* of the efforts of laws (N) */
} yk_index1_residual;

struct yk_index1 {
    yk_index1_basis bases[YK_SIGNAL_COEFFICIENTS];
    const yk_index1_basis *basis; /* of constraints in the present step */
    yk_index1_link *links;
    int wire_count;
    yk_index1_wire *wires;
    yk_jacobian *jacobian;       /* its links: interfaces, then wires */
    yk_jacobian *start_jacobian; /* accelerations by constant multipliers */
    double **sensitivity;        /* per member: room for what it tells; NULL: finite differences */
    double *correction;          /* of the parameters, to be subtracted from them */
    double *applied;             /* their change between the last run and the present one */
    double *way;                 /* their change since the last iterate that was no worse than the one before */
    /* Part of the state. */
    double last_step;     /* 0: nothing to extrapolate from */
    double jacobian_step; /* size of the step that the responses were computed in; 0: none */
    int jacobian_degree;  /* of the polynomials then */
    double last_rate;     /* by which the corrections of the last step shrank */
    bool jumped;          /* the multipliers may jump at the start of the step */
};

/* index1_effort.c */
/* The directions of all efforts, from the path of the last step extended (the predictor), or from the motion that the
 * sides will have reached when the parameters have changed by `step`: so directions and multipliers converge together. */
void yk_index1_predict_directions(yk_system *system);
void yk_index1_update_directions(yk_system *system, const double *step);
/* The effort of some multipliers on one side as an input. */
void yk_index1_signal(const yk_index1_link *link, int side, double h, const yk_index1_multiplier *multiplier,
                      yk_signal *signal);
/* What acts in one substep of a member that does not follow polynomials: a line in place of the input, which begins
 * `offset` after the start of the step. Such a member takes the mean of an effort, or reads it at the end of its substep,
 * and both must come to the same impulse although polynomials of degree 2 and less jump between macro steps. So the line
 * has the mean of the polynomial, and at its end the value that this mean and the `last` one extrapolate to: of second
 * order, and the sum of the values at all ends is that of all means but for the first and the last. */
yk_signal yk_index1_substep_line(const yk_system *system, const yk_member *member, double offset,
                                 const yk_signal *input, const yk_effort *last);
/* The same of an input of one side, with the mean that it had in the substep before. */
yk_signal yk_index1_substep_input(yk_system *system, int link, int side, double offset);
/* All inputs of both sides of all interfaces. */
void yk_index1_set_inputs(yk_system *system);
/* Work of an interface on both of its sides in the step, without that of a prescribed motion. */
void yk_index1_work(const yk_system *system, int link, yk_link_work *work);

/* What a side answers: its motion, the moments of the effort of a law, or the value of a wire. Links as the Jacobian
 * numbers them. */
static inline yk_motion yk_index1_answer(const yk_system *system, int link, int side)
{
    if (link >= system->link_count) {
        const yk_index1_wire *own = &system->index1->wires[link - system->link_count];
        return (yk_motion){.position.x = side == 0 ? system->wires[own->wire].now : own->end};
    }
    const yk_link *l = &system->links[link];
    if (side == 0) return yk_link_a(system, l)->values[l->def.effort_port].motion;
    const yk_member *b = yk_link_b(system, l);
    return l->law ? b->moments[l->def.motion_port] : b->values[l->def.motion_port].motion;
}

/* Whether the response of a member comes from its own sensitivities, which are those of one step and know efforts alone; the
 * others are differenced. After its moments are created. */
static inline bool yk_index1_tells(const yk_system *system, int member)
{
    const yk_member *m = &system->members[member];
    return m->subsystem->ops->step_sensitivity && !m->moments && m->substeps == 1 && !system->scheme.index1.differences;
}

/* index1_wire.c: wires that are solved for. Room for them at creation; their values at the end of the step as they are
 * extrapolated, and after a correction; as inputs of a member; one of them as an input; a change for finite differences;
 * conditions; and what is kept of the step. */
yk_status yk_index1_create_wires(yk_system *system);
void yk_index1_predict_wires(yk_system *system);
void yk_index1_correct_wires(yk_system *system, const double *correction);
void yk_index1_feed(yk_system *system, int member);
void yk_index1_wire_input(const yk_system *system, int number, double end, yk_signal *input);
double yk_index1_wire_change(const yk_system *system, int number);
void yk_index1_evaluate_wires(const yk_system *system, double *residual);
void yk_index1_keep_wires(yk_system *system);

/* index1_law.c: the motion that side B is told, first as A's is extrapolated, and as its input; a change of it for finite
 * differences, as an acceleration over the step; the conditions, which follow each other in `residual`; the work. */
void yk_index1_predict_law(yk_system *system, int link);
void yk_index1_tell(const yk_system *system, int link, const double told[YK_INDEX1_MOTIONS], yk_signal *signal);
double yk_index1_motion_change(const yk_system *system, int link);
double *yk_index1_evaluate_law(const yk_system *system, int link, double *residual, yk_index1_residual *size);
void yk_index1_law_work(const yk_system *system, int link, yk_link_work *work);

/* index1_response.c */
/* A step of a member with the derivatives of its motions by the parameters; the member must be at the mark. */
yk_status yk_index1_advance_with_response(yk_system *system, int member);
/* index1_create.c, index1_start.c */
yk_status yk_index1_create(yk_system *system);
void yk_index1_destroy(yk_system *system);
yk_status yk_index1_start(yk_system *system);
/* Its part of the state image: continuous words, then opaque ones. */
yk_state_layout yk_index1_layout(const yk_system *system);
void yk_index1_get(const yk_system *system, double *continuous, double *opaque);
void yk_index1_set(yk_system *system, const double *continuous, const double *opaque);

#endif
