/* Flows, chambers, forces and powers of a hydraulic cylinder (Peiret et al. 2020, equations 46 to
 * 51); see cylinder.h. */
#include "physics/cylinder.h"

/* Fluid ---------------------------------------------------------------------------------------- */

/* The integral of dp / (1 + a p + b p^2) (Peiret et al. 2020, equation 49). */
static double enthalpy_within(const yk_fluid *fluid, double p)
{
    double a = fluid->compressibility;
    double b = fluid->compressibility_2;
    double square = a * a - 4 * b;
    double ratio = p / (2 + a * p);

    if (square > 0) {
        double root = sqrt(square);
        return 2 / root * atanh(root * ratio);
    }

    if (square < 0) {
        double root = sqrt(-square);
        return 2 / root * atan(root * ratio);
    }

    /* The discriminant is zero. */
    return 2 * ratio;
}

double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure)
{
    double p = fmin(pressure, yk_fluid_limit(fluid));
    if (p == pressure)
        return enthalpy_within(fluid, p);

    /* Outside the range of the law the density follows its tangent. */
    double slope = yk_fluid_fill_slope(fluid, p);
    return enthalpy_within(fluid, p) +
           log1p(slope * (pressure - p) / yk_fluid_fill(fluid, p)) / slope;
}

/* Orifices ------------------------------------------------------------------------------------- */

double yk_valve_limited(yk_valve_kind kind, double spool)
{
    double low = kind == YK_VALVE_OPEN_CENTER ? 0 : -1;
    return fmax(low, fmin(1, spool));
}

/* Openings of the four orifices as fractions of the full area, and their derivatives with respect to the spool. */
static void openings(yk_valve_kind kind, double spool, double fraction[YK_ORIFICES],
                     double slope[YK_ORIFICES])
{
    double k = yk_valve_limited(kind, spool);
    bool inside = k == spool;
    double retract, extend;
    double d_retract = 0;
    double d_extend = 0;

    /* Open center: one pair closes while the other opens. Closed center: the sign of the spool selects the pair. */
    if (kind == YK_VALVE_OPEN_CENTER) {
        retract = k;
        extend = 1 - k;
        if (inside) {
            d_retract = 1;
            d_extend = -1;
        }
    } else {
        retract = fmax(-k, 0);
        extend = fmax(k, 0);
        if (inside && k < 0)
            d_retract = -1;
        if (inside && k > 0)
            d_extend = 1;
    }

    /* P1 and T2 open together, as do P2 and T1. */
    fraction[YK_ORIFICE_P1] = retract;
    fraction[YK_ORIFICE_T2] = retract;
    fraction[YK_ORIFICE_P2] = extend;
    fraction[YK_ORIFICE_T1] = extend;
    slope[YK_ORIFICE_P1] = d_retract;
    slope[YK_ORIFICE_T2] = d_retract;
    slope[YK_ORIFICE_P2] = d_extend;
    slope[YK_ORIFICE_T1] = d_extend;
}

/* Square root of a pressure difference with a finite slope at zero, and its derivative. */
static double rounded_root(const yk_valve *valve, double difference, double *slope)
{
    /* Without backflow: the deltas of Peiret et al. 2020. */
    *slope = 0;
    if (difference < 0 && !valve->allow_backflow)
        return 0;

    /* The square root, or below the laminar pressure a parabola with the same value and slope there. */
    double size = fabs(difference);
    double root;
    if (size >= valve->laminar_pressure) {
        root = sqrt(size);
        *slope = 0.5 / root;
    } else {
        double x = size / valve->laminar_pressure;
        double top = sqrt(valve->laminar_pressure);
        root = top * x * (1.5 - 0.5 * x);
        *slope = (1.5 - x) / top;
    }

    return difference < 0 ? -root : root;
}

static double spool_position(const yk_cylinder *cylinder, const yk_cylinder_drive *drive,
                             const double *unknowns)
{
    return cylinder->valve.time_constant > 0 ? unknowns[2] : drive->command;
}

void yk_cylinder_flows(const yk_cylinder *cylinder, const yk_fluid *fluid,
                       const yk_cylinder_drive *drive, const double *unknowns,
                       yk_cylinder_flow *flow)
{
    const yk_valve *valve = &cylinder->valve;
    double fraction[YK_ORIFICES];
    double by_spool[YK_ORIFICES];

    openings(valve->kind, spool_position(cylinder, drive, unknowns), fraction, by_spool);

    /* area * cd * sqrt(2 dp / density) through each orifice */
    double factor = valve->area * valve->discharge_coefficient * sqrt(2 / fluid->density);
    flow->blocked = 0;
    for (int i = 0; i < YK_ORIFICES; i++) {
        bool pump = i == YK_ORIFICE_P1 || i == YK_ORIFICE_P2;
        double head = unknowns[i / 2];
        double p = yk_fluid_pressure(fluid, head);
        double difference = p - drive->tank;

        if (pump)
            difference = drive->pump - p;

        /* The difference to the pump falls with the pressure of the chamber. */
        double slope;
        double root = rounded_root(valve, difference, &slope);
        if (pump)
            slope = -slope;

        flow->orifice[i] = factor * fraction[i] * root;
        flow->by_spool[i] = factor * by_spool[i] * root;

        /* In a cavitated chamber the pressure does not depend on the head. */
        flow->slope[i] = 0;
        if (head > fluid->vapor_pressure)
            flow->slope[i] = factor * fraction[i] * slope;
        if (difference < 0 && !valve->allow_backflow && fraction[i] > 0)
            flow->blocked++;
    }
}

/* Chambers ------------------------------------------------------------------------------------- */

static double chamber_length(const yk_cylinder *c, int index, double displacement)
{
    if (index == 0)
        return c->length * c->initial_fraction - displacement;
    return c->length * (1 - c->initial_fraction) + displacement;
}

/* A chamber that is shorter than its stop keeps at least half of its volume at the stop. */
static double chamber_volume(const yk_cylinder *c, int index, double displacement)
{
    return c->area[index] *
           fmax(chamber_length(c, index, displacement), 0.5 * c->min_chamber_length);
}

static double chamber_volume_rate(const yk_cylinder *c, int index, double displacement, double rate)
{
    if (!(chamber_length(c, index, displacement) > 0.5 * c->min_chamber_length))
        return 0;
    return (index == 0 ? -1 : 1) * c->area[index] * rate;
}

int yk_cylinder_size(const yk_cylinder *cylinder)
{
    return cylinder->valve.time_constant > 0 ? 3 : 2;
}

/* Liquid that flows into both chambers, as its volume at zero pressure (m^3/s). */
static void supplies(const yk_cylinder *c, const yk_fluid *fluid, const double *heads,
                     const yk_cylinder_flow *flow, double in[2])
{
    const double p[2] = {yk_fluid_pressure(fluid, heads[0]), yk_fluid_pressure(fluid, heads[1])};
    double leak = c->leakage * (p[1] - p[0]);
    for (int i = 0; i < 2; i++) {
        double net = flow->orifice[2 * i] - flow->orifice[2 * i + 1];
        double past = i == 0 ? leak : -leak;
        in[i] = yk_fluid_fill(fluid, p[i]) * net + past;
    }
}

/* d(fill volume)/dt = supply. Without cavitation: Peiret et al. 2020, equations 47 and 48. */
void yk_cylinder_rate(const yk_cylinder *cylinder, const yk_fluid *fluid,
                      const yk_cylinder_drive *drive, const double *unknowns, double *rate)
{
    yk_cylinder_flow flow;
    double in[2];

    yk_cylinder_flows(cylinder, fluid, drive, unknowns, &flow);
    supplies(cylinder, fluid, unknowns, &flow, in);

    /* Compression takes the inflow minus the volume that the piston sweeps. */
    for (int i = 0; i < 2; i++) {
        double volume = chamber_volume(cylinder, i, drive->length);
        double volume_rate = chamber_volume_rate(cylinder, i, drive->length, drive->rate);
        double fill = yk_fluid_fill(fluid, unknowns[i]);
        double slope = yk_fluid_fill_slope(fluid, unknowns[i]);
        rate[i] = (in[i] - fill * volume_rate) / (volume * slope);
    }

    /* The spool follows its command with a first-order lag. */
    if (cylinder->valve.time_constant > 0)
        rate[2] = (drive->command - unknowns[2]) / cylinder->valve.time_constant;
}

void yk_cylinder_jacobian(const yk_cylinder *cylinder, const yk_fluid *fluid,
                          const yk_cylinder_drive *drive, const double *unknowns, double *jacobian)
{
    int n = yk_cylinder_size(cylinder);
    yk_cylinder_flow flow;
    double in[2];

    yk_cylinder_flows(cylinder, fluid, drive, unknowns, &flow);
    supplies(cylinder, fluid, unknowns, &flow, in);

    for (int i = 0; i < 2; i++) {
        double volume = chamber_volume(cylinder, i, drive->length);
        double volume_rate = chamber_volume_rate(cylinder, i, drive->length, drive->rate);
        double head = unknowns[i];
        double p = yk_fluid_pressure(fluid, head);
        double fill = yk_fluid_fill(fluid, head);
        double slope = yk_fluid_fill_slope(fluid, head);
        double scale = 1 / (volume * slope);

        /* Derivative with respect to its own head. */
        double own = 0;
        if (head > fluid->vapor_pressure)
            own = slope * (flow.orifice[2 * i] - flow.orifice[2 * i + 1]) - cylinder->leakage;
        double orifices = flow.slope[2 * i] - flow.slope[2 * i + 1];
        own += yk_fluid_fill(fluid, p) * orifices - slope * volume_rate;
        double rate = (in[i] - fill * volume_rate) * scale;
        jacobian[i * n + i] = scale * own - rate * yk_fluid_fill_curvature(fluid, head) / slope;

        /* Derivative with respect to the head of the other chamber, through the leakage. */
        jacobian[i * n + 1 - i] = 0;
        if (unknowns[1 - i] > fluid->vapor_pressure)
            jacobian[i * n + 1 - i] = scale * cylinder->leakage;

        /* Derivative with respect to the spool. */
        if (n > 2) {
            double by_spool = flow.by_spool[2 * i] - flow.by_spool[2 * i + 1];
            jacobian[i * n + 2] = scale * yk_fluid_fill(fluid, p) * by_spool;
        }
    }

    /* The spool depends on its command only. */
    if (n > 2) {
        jacobian[2 * n] = 0;
        jacobian[2 * n + 1] = 0;
        jacobian[2 * n + 2] = -1 / cylinder->valve.time_constant;
    }
}

/* Forces and energy ---------------------------------------------------------------------------- */

/* Depth of the piston in a stop (m): positive at full extension, negative at full retraction. */
static double stop_depth(const yk_cylinder *c, double displacement)
{
    double extended = displacement - (c->length * c->initial_fraction - c->min_chamber_length);
    double retracted =
        displacement + (c->length * (1 - c->initial_fraction) - c->min_chamber_length);
    if (extended > 0)
        return extended;
    if (retracted < 0)
        return retracted;

    return 0;
}

double yk_cylinder_stop_force(const yk_cylinder *cylinder, double length, double rate)
{
    double depth = stop_depth(cylinder, length);
    double closing = depth > 0 ? rate : -rate;
    return -cylinder->stop_stiffness * depth * fmax(0, 1 + cylinder->stop_damping * closing);
}

double yk_cylinder_force(const yk_cylinder *cylinder, const yk_fluid *fluid,
                         const yk_cylinder_drive *drive, const double *unknowns)
{
    /* A2 p2 - A1 p1 - d s' (Peiret et al. 2020, equation 46), and the end stops. */
    const double *area = cylinder->area;
    double push = yk_fluid_pressure(fluid, unknowns[1]) * area[1] -
                  yk_fluid_pressure(fluid, unknowns[0]) * area[0];
    return push - cylinder->viscous_friction * drive->rate +
           yk_cylinder_stop_force(cylinder, drive->length, drive->rate);
}

double yk_cylinder_energy(const yk_cylinder *cylinder, const yk_fluid *fluid, double length,
                          const double *unknowns)
{
    double depth = stop_depth(cylinder, length);
    double sum = 0.5 * cylinder->stop_stiffness * depth * depth;

    /* Internal energy of the liquid in each chamber: enthalpy - p V. */
    for (int i = 0; i < 2; i++) {
        double volume = chamber_volume(cylinder, i, length);
        double p = yk_fluid_pressure(fluid, unknowns[i]);
        double liquid = volume * yk_fluid_fill(fluid, unknowns[i]);
        sum += liquid * yk_fluid_enthalpy(fluid, p) - p * volume;
    }

    return sum;
}

void yk_cylinder_powers(const yk_cylinder *cylinder, const yk_fluid *fluid,
                        const yk_cylinder_drive *drive, const double *unknowns,
                        yk_cylinder_power *power)
{
    const yk_cylinder *c = cylinder;
    double rate = drive->rate;

    yk_cylinder_flow flow;
    yk_cylinder_flows(c, fluid, drive, unknowns, &flow);

    /* Enthalpy of the flows, and the losses in the orifices. */
    double pump = yk_fluid_enthalpy(fluid, drive->pump);
    double tank = yk_fluid_enthalpy(fluid, drive->tank);
    double own[2];
    power->supply = 0;
    power->loss = 0;
    for (int i = 0; i < 2; i++) {
        double in = flow.orifice[2 * i];
        double out = flow.orifice[2 * i + 1];
        double p = yk_fluid_pressure(fluid, unknowns[i]);
        double fill = yk_fluid_fill(fluid, p);

        own[i] = yk_fluid_enthalpy(fluid, p);
        power->supply += fill * (pump * in - tank * out);
        power->loss += fill * ((pump - own[i]) * in + (own[i] - tank) * out);

        /* The volume that a chamber behind its stop keeps does no work on the fluid. */
        double volume_rate = chamber_volume_rate(c, i, drive->length, rate);
        double swept = (i == 0 ? -1 : 1) * c->area[i] * rate;
        power->loss -= p * (swept - volume_rate);
    }

    double p1 = yk_fluid_pressure(fluid, unknowns[0]);
    double p2 = yk_fluid_pressure(fluid, unknowns[1]);
    double leak = c->leakage * (p2 - p1);
    double stop = yk_cylinder_stop_force(c, drive->length, rate);
    double stored = c->stop_stiffness * stop_depth(c, drive->length) * rate;
    power->loss += leak * (own[1] - own[0]) + c->viscous_friction * rate * rate;
    power->loss += -stop * rate - stored;

    /* The force pushes the ends apart, so a shortening motion does work on the cylinder. */
    power->port = -yk_cylinder_force(c, fluid, drive, unknowns) * rate;
}

/* Steady state ---------------------------------------------------------------------------------------- */

bool yk_cylinder_steady(const yk_cylinder *cylinder, const yk_cylinder_drive *drive,
                        double pressure[2])
{
    double fraction[YK_ORIFICES];
    double slope[YK_ORIFICES];

    openings(cylinder->valve.kind, drive->command, fraction, slope);

    /* in^2 (pump - p) = out^2 (p - tank) */
    for (int i = 0; i < 2; i++) {
        double in = fraction[2 * i] * fraction[2 * i];
        double out = fraction[2 * i + 1] * fraction[2 * i + 1];

        /* A chamber with closed orifices can have any pressure. */
        if (!(in + out > 0))
            return false;

        pressure[i] = (in * drive->pump + out * drive->tank) / (in + out);
    }

    return true;
}
