/* The tight scheme with acceleration in systems of many interfaces: one macro step by Newton's method
 * (interface_newton.h).
 *
 * A least-squares combination of earlier iterations needs about as many iterations as there are
 * interfaces between two ends of a chain. Here all subsystems make a sweep at the same time, with the
 * wrenches and motions of x, and the sparse Jacobian spreads a change over the whole system at once.
 *
 * The wrench sides step once more at the end with the reaction wrenches of the last sweep, as in
 * accelerated.c. A step that does not converge is accepted with the best x. */
#include <string.h>

#include "coupling/interface_newton.h"
#include "coupling/participant.h"
#include "coupling/tight/tight.h"

static void set_wrench(void *user, yk_system *system, int interface)
{
    yk_tight_wrench_input(user, system, interface);
}

static void set_motion(void *user, yk_system *system, int interface)
{
    yk_tight_motion_input(user, system, interface, &system->interfaces[interface].given);
}

static void apply_next(const yk_tight *x, yk_system *system)
{
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        memcpy(w->tried, w->applied, (size_t)w->size * sizeof(double));
        yk_tight_apply(x, system, w, w->next);
    }
}

/* Starts with the wrenches at the end of the previous step, referred to the places of the wrench sides
 * at that time, and with predicted motions. */
static void begin_newton(yk_tight *x, yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->origin = yk_system_interface_motion_at_step_start(system, i, 0)->position;
        yk_motion_history_predict(x->history, system, i, &interface->given);
    }

    yk_tight_begin_unknowns(x, system);
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        memcpy(w->tried, w->applied, (size_t)w->size * sizeof(double));
        yk_interface_newton_begin(x->newtons[i]);
    }
}

/* Computes the next x of all vectors. */
static yk_status find_next(yk_tight *x, yk_system *system, double *change, bool *converged)
{
    const yk_interface_inputs inputs = {set_wrench, set_motion, x};
    *change = 0;
    *converged = true;
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        bool own;
        yk_unknowns_read(system, w);
        yk_unknowns_settled(system, w, change);
        yk_status status = yk_interface_newton_next(x->newtons[i], system, w, &inputs, &own);
        if (status != YK_OK)
            return status;
        *converged = *converged && own;
    }

    return YK_OK;
}

yk_status yk_tight_iterate_newton(yk_tight *x, yk_system *system, yk_step_report *report)
{
    yk_system_save_participants(system);
    begin_newton(x, system);

    int shortenings = 0;
    for (int number = 0;; number++) {
        yk_status status = yk_tight_sweep_together(x, system, number == 0);
        report->iterations++;

        /* A subsystem failed with this x. */
        bool last = number >= x->options.max_iterations;
        if (status != YK_OK) {
            bool give_up = number == 0 || last || status == YK_ERROR_MEMORY;
            if (give_up || !yk_tight_shorten(x, system, &shortenings))
                return status;
            continue;
        }

        bool converged;
        status = find_next(x, system, &report->wrench_change, &converged);
        if (status != YK_OK)
            return status;

        /* At the fixed point each side receives the wrench of the other. */
        if (converged)
            return yk_tight_exchange(x, system);
        if (last)
            break;
        apply_next(x, system);
    }

    /* Not converged: accept the step with the best x. */
    for (int i = 0; i < x->unknowns_count; i++)
        yk_interface_newton_best(x->newtons[i], x->unknowns[i].next);
    apply_next(x, system);
    yk_status status = yk_tight_sweep_together(x, system, false);
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns_read(system, &x->unknowns[i]);
        yk_unknowns_settled(system, &x->unknowns[i], &report->wrench_change);
    }

    return status == YK_OK ? YK_NOT_CONVERGED : status;
}
