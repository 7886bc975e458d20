/* Takes a sample of its input when its clock ticks, and counts the ticks. The clock may be set in event
 * mode alone, the input at a tick alone: all else is an error. */
#include "skeleton.h"

enum { U, HELD, TICKS, LAST, ACTIVE, FAULT, VALUES };
enum { STATES = 0, INDICATORS = 0 };
#define TOKEN "{sampler}"

static const double start[VALUES];
static const unsigned state_of[] = {U}, rate_of[] = {U};

static void calculate(double *v, double t)
{
    (void)v, (void)t;
}

static void advance(double *v, const double *rate, double t, double h)
{
    (void)v, (void)rate, (void)t, (void)h;
}

static void indicate(const double *v, double *z)
{
    (void)v, (void)z;
}

static bool react(double *v, double t)
{
    if (v[ACTIVE] != 0) {
        v[HELD] = v[U];
        v[LAST] = t;
        v[TICKS]++;
        v[ACTIVE] = 0;
    }
    return false;
}

#define INPUT_OF_A_CLOCK U
#include "skeleton3.h"

FUNCTION(yk_fmi_status, SetClock, (void *c, const uint32_t *vr, size_t n, const bool *values))
{
    instance *self = c;
    if (n != 1 || vr[0] != 100 || !values[0] || !self->in_event_mode)
        return YK_FMI_ERROR;
    self->v[ACTIVE] = 1;
    return YK_FMI_OK;
}
