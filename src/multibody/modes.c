/* Modes of a model from the matrix of its time integration.
 *
 * The matrix of a step is M + c C + c^2 K next to the constraint gradients, where c is the step's
 * weight (multibody.h). Every entry is a polynomial in c. So M and K are read at a c so small or so
 * large that the other terms vanish, and C is the remainder at an intermediate c. No element needs
 * code for modes; only inertia is computed with small rotations in fixed axes, in which the
 * matrices of a round rotor are constant. */
#include "multibody/modes.h"

#include <string.h>

#include "multibody/multibody.h"

static const double SMALL_WEIGHT = 1e-100;
static const double LARGE_WEIGHT = 1e100;
/* Rates (1/s) that count as zero if nothing holds the model, so that there are no rounding errors
 * to compare with. */
static const double NO_RATE = 1e-50;

/* Matrices ------------------------------------------------------------------------------------- */

/* Values of all entries at one weight. */
static void assemble_at(yk_multibody *self, double c, double factor, double *values)
{
    yk_linear_solver *solver = &self->solver;
    self->work.c = c;
    yk_multibody_assemble(&self->model, &self->work, solver, LEVEL_STEP);

    const double *matrix = yk_sparse_values(solver->matrix);
    for (size_t k = 0; k < yk_sparse_nonzeros(solver->matrix); k++)
        values[k] = factor * matrix[k] / solver->entry_scale[k];
}

static double largest_value(const yk_multibody_model *model, const yk_linear_solver *solver,
                            const double *values)
{
    const int *starts = yk_sparse_column_starts(solver->matrix);
    const int *rows = yk_sparse_rows(solver->matrix);
    double size = 0;
    for (int j = 0; j < model->motion_count; j++) {
        for (int k = starts[j]; k < starts[j + 1]; k++) {
            if (rows[k] < model->motion_count)
                size = fmax(size, fabs(values[k]));
        }
    }

    return size;
}

/* The remainder of M + c C + c^2 K; below the rounding errors of the other terms it is zero. */
static yk_status read_damping(yk_multibody *self, const double *mass, const double *stiffness,
                              double *damping)
{
    const yk_multibody_model *model = &self->model;
    const yk_linear_solver *solver = &self->solver;
    const int *starts = yk_sparse_column_starts(solver->matrix);
    const int *rows = yk_sparse_rows(solver->matrix);
    int n = model->motion_count;
    double *size = yk_allocate(model->context, (size_t)n, sizeof *size);
    if (!size)
        return YK_ERROR_MEMORY;

    /* At a c for which M and c^2 K are of similar size. */
    double largest_mass = largest_value(model, solver, mass);
    double largest_stiffness = largest_value(model, solver, stiffness);
    double c = 1;
    if (largest_mass > 0 && largest_stiffness > 0)
        c = sqrt(largest_mass / largest_stiffness);
    assemble_at(self, c, model->mass_scale, damping);

    /* |M| + c^2 |K| on the diagonal: scale of the rounding errors of an unknown's row and column. */
    for (int i = 0; i < n; i++) {
        size[i] = 0;
        for (int k = starts[i]; k < starts[i + 1]; k++) {
            if (rows[k] == i)
                size[i] = fabs(mass[k]) + c * c * fabs(stiffness[k]);
        }
    }

    /* Entries above these rounding errors are damping. */
    for (int j = 0; j < n; j++) {
        for (int k = starts[j]; k < starts[j + 1] && rows[k] < n; k++) {
            double rest = damping[k] - mass[k] - c * c * stiffness[k];
            double rounding = 1e-12 * sqrt(size[rows[k]] * size[j]);
            damping[k] = fabs(rest) > rounding ? rest / c : 0;
        }
    }

    yk_free(model->context, size);
    return YK_OK;
}

/* Entries of the motion, or gradients of the constraints. */
static yk_linear_matrix list_block(const yk_multibody_model *model, const yk_linear_solver *solver,
                                   const double *values, bool constraints, yk_matrix_entry *entries)
{
    const int *starts = yk_sparse_column_starts(solver->matrix);
    const int *rows = yk_sparse_rows(solver->matrix);
    int n = model->motion_count;
    size_t count = 0;

    for (int j = 0; j < n; j++) {
        for (int k = starts[j]; k < starts[j + 1]; k++) {
            if ((rows[k] >= n) != constraints || values[k] == 0)
                continue;

            int row = constraints ? rows[k] - n : rows[k];
            entries[count++] = (yk_matrix_entry){row, j, values[k]};
        }
    }

    return (yk_linear_matrix){entries, count};
}

/* The equations of motion about the present state, entry by entry in true units, without the scale
 * of masses; the caller must release their entries. */
static yk_status linearise(yk_multibody *self, yk_linear_system *system, yk_matrix_entry **entries)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    yk_context *context = model->context;

    /* Memory for three matrices and for the lists of their entries. */
    size_t count = yk_sparse_nonzeros(solver->matrix);
    double *mass = yk_allocate(context, 3 * count, sizeof *mass);
    *entries = yk_allocate(context, 4 * count, sizeof **entries);
    if (!mass || !*entries) {
        yk_free(context, mass);
        return YK_ERROR_MEMORY;
    }

    double *damping = mass + count;
    double *stiffness = damping + count;

    /* The polynomial in c: K at a large weight, M at a small one, C between; without the artificial
     * damping of the start, which is not part of the model. */
    double c = work->c;
    double artificial = work->damping;
    work->damping = 0;
    work->compliance = 0;
    work->rotation_weight = YK_ROTATION_IN_FIXED_AXES;
    yk_multibody_trial_from_state(model, &self->state, work);

    double large = model->mass_scale / (LARGE_WEIGHT * LARGE_WEIGHT);
    assemble_at(self, LARGE_WEIGHT, large, stiffness);
    assemble_at(self, SMALL_WEIGHT, model->mass_scale, mass);
    yk_status status = read_damping(self, mass, stiffness, damping);

    /* Restore the step. */
    work->c = c;
    work->damping = artificial;
    work->rotation_weight = YK_ROTATION_OF_STEP;
    solver->match = false; /* the factored values have been overwritten */

    /* The gradients of the joints are part of all three matrices, so read them with the masses. */
    yk_matrix_entry *list[4];
    for (size_t i = 0; i < 4; i++)
        list[i] = *entries + i * count;
    *system = (yk_linear_system){
        .unknowns = model->motion_count,
        .constraints = model->row_count,
        .mass = list_block(model, solver, mass, false, list[0]),
        .damping = list_block(model, solver, damping, false, list[1]),
        .stiffness = list_block(model, solver, stiffness, false, list[2]),
        .constraint = list_block(model, solver, mass, true, list[3]),
    };
    yk_free(context, mass);
    if (status != YK_OK)
        return status;

    /* An unknown without entries in any matrix, such as the rotation of a point mass, would be
     * singular: hold it in place. There is room for its stiffness at the end of the list, because
     * the unknown has entries without value. */
    bool *used = yk_allocate(context, (size_t)system->unknowns, sizeof *used);
    if (!used)
        return YK_ERROR_MEMORY;

    const yk_linear_matrix *all[4] = {&system->mass, &system->damping, &system->stiffness,
                                      &system->constraint};
    for (int m = 0; m < 4; m++) {
        for (size_t k = 0; k < all[m]->count; k++)
            used[all[m]->entries[k].column] = true;
    }
    for (int i = 0; i < system->unknowns; i++) {
        if (!used[i])
            list[2][system->stiffness.count++] = (yk_matrix_entry){i, i, 1};
    }
    yk_free(context, used);

    return YK_OK;
}

/* Results -------------------------------------------------------------------------------------- */

/* Effective mass along an axis: |x^H M r|^2 / (x^H M x) with r the rigid translation. */
static void participation(const yk_multibody_model *model, const yk_linear_system *system,
                          const double *re, const double *im, double total, double mass[3])
{
    double along_re[3] = {0};
    double along_im[3] = {0};
    double modal = 0;

    /* x^H M x, and x^H M r of three translations. */
    for (size_t k = 0; k < system->mass.count; k++) {
        const yk_matrix_entry *e = &system->mass.entries[k];
        modal += e->value * (re[e->row] * re[e->column] + im[e->row] * im[e->column]);

        /* The axis along which the unknown moves in a translation of the whole model. Of
         * coordinates, only the positions of a rod's nodes move. */
        int axis = e->column % 6;
        if (e->column >= model->coordinate_first) {
            int own = e->column - model->coordinate_first;
            int i = model->def.flexible_count - 1;
            while (model->flexibles[i].coordinate > own)
                i--;
            if (model->flexibles[i].body->kind == YK_FLEXIBLE_MODAL)
                continue;
            axis = (own - model->flexibles[i].coordinate) % (YK_ANCF_NODE + YK_ANCF_MIDDLE);
        }
        if (axis >= 3)
            continue;

        along_re[axis] += re[e->row] * e->value;
        along_im[axis] += im[e->row] * e->value;
    }

    /* As a fraction of the total mass. */
    for (int a = 0; a < 3; a++) {
        double square = along_re[a] * along_re[a] + along_im[a] * along_im[a];
        mass[a] = 0;
        if (modal > 0 && total > 0)
            mass[a] = square / (modal * total);
    }
}

static yk_status create_modes(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              const yk_linear_system *system, const yk_linear_modes *linear,
                              yk_modes **modes)
{
    yk_context *context = model->context;
    yk_modes *made = yk_allocate(context, 1, sizeof *made);

    *modes = made;
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->node_count = model->node_count + model->def.attachment_count;
    size_t length = 6 * (size_t)made->node_count;
    made->mode = yk_allocate(context, (size_t)linear->count + 1, sizeof *made->mode);
    made->shape = yk_allocate(context, 2 * (size_t)linear->count * length + 1, sizeof *made->shape);
    if (!made->mode || !made->shape)
        return YK_ERROR_MEMORY;

    made->count = linear->count;

    /* Displacement and rotation of nodes and attachments from the unknowns; real and imaginary
     * parts in turn. */
    for (int i = 0; i < 2 * linear->count; i++) {
        const double *from = linear->shape + (size_t)i * (size_t)linear->unknowns;
        double *to = made->shape + (size_t)i * length;

        for (int k = 0; k < made->node_count; k++) {
            yk_vec3 linear_part;
            yk_vec3 angular_part;
            int frame = yk_multibody_frame_of(model, k);
            yk_multibody_pull_frame(model, work, frame, from, &linear_part, &angular_part);
            memcpy(to + 6 * k, &linear_part, sizeof linear_part);
            memcpy(to + 6 * k + 3, &angular_part, sizeof angular_part);
        }
    }

    /* Frequencies, damping and effective masses; a free motion has effective masses only. */
    double total = 0;
    for (int i = 0; i < model->node_count; i++)
        total += model->nodes[i].inertia.mass;
    for (int i = 0; i < model->def.flexible_count; i++)
        total += yk_flexible_mass(model->flexibles[i].body);

    for (int i = 0; i < made->count; i++) {
        yk_mode *mode = &made->mode[i];
        double real = linear->real[i];
        double imaginary = linear->imaginary[i];
        double size = hypot(real, imaginary);

        *mode = (yk_mode){.residual = linear->residual[i]};
        const double *re = yk_linear_modes_shape(linear, i, false);
        const double *im = yk_linear_modes_shape(linear, i, true);
        participation(model, system, re, im, total, mode->mass);

        /* A mode that rounding errors alone could cause has no frequency. */
        mode->free_motion = size < fmax(linear->floor[i], NO_RATE);
        if (mode->free_motion)
            continue;

        mode->growth = real;
        mode->omega = imaginary;
        mode->frequency = imaginary / (2 * YK_PI);
        if (real != 0)
            mode->damping = -real / size;
    }

    return YK_OK;
}

yk_status yk_modes_find(yk_multibody *self, const yk_modes_options *options, yk_modes **modes)
{
    const yk_multibody_model *model = &self->model;
    yk_context *context = model->context;

    *modes = NULL;
    if (!self->compiled)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: modes are about a state; start the model first", model->def.name);

    /* The equations about this state, and their modes. */
    yk_linear_system system;
    yk_matrix_entry *entries = NULL;
    yk_linear_modes *linear = NULL;
    yk_status status = linearise(self, &system, &entries);
    if (status == YK_OK)
        status = yk_linear_modes_solve(context, &system, options, &linear);

    /* Return the modes that were found, even if others did not converge. */
    if (linear) {
        yk_status created = create_modes(model, &self->work, &system, linear, modes);
        if (created != YK_OK)
            status = created;
    }

    yk_linear_modes_destroy(linear);
    yk_free(context, entries);
    if (YK_FAILED(status)) {
        yk_modes_destroy(*modes);
        *modes = NULL;
    }

    return status;
}

void yk_modes_destroy(yk_modes *modes)
{
    if (!modes)
        return;

    yk_free(modes->context, modes->mode);
    yk_free(modes->context, modes->shape);
    yk_free(modes->context, modes);
}
