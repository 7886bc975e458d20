/* The defaults of scenario keys equal those of the C interface: the schema prints the values of
 * `_default()`. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/registry.h"
#include "yoke/multibody.h"
#include "yoke/nonsmooth.h"

static const yk_option *find_key(const yk_option_section *section, const char *key, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, key);
    return section ? yk_option_find(section->options, name) : NULL;
}

/* The field at "contact.method": keys of sections, and behind a variant's key its word. */
static const yk_option *find(const yk_option_section *section, const char *path)
{
    const yk_option *field = NULL;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, ".");
        const yk_option *next = find_key(section, at, length);
        if (next) {
            field = next->item ? next->item : next;
            section = field->section;
        } else {
            const yk_option_section *const *v = field ? field->variants : NULL;
            while (v && *v && (strlen((*v)->name) != length || strncmp((*v)->name, at, length)))
                v++;
            if (!v || !*v)
                return NULL;
            section = *v;
        }
        at += length + (at[length] == '.');
    }
    return field;
}

/* The number of a default, or the index of its word. */
static double number_of(const yk_option *field, int component)
{
    for (int i = 0; field->choices && field->choices[i].name; i++)
        if (strcmp(field->choices[i].name, field->default_text) == 0)
            return i;
    if (strcmp(field->default_text, "true") == 0)
        return 1;
    const char *at = field->default_text + (field->default_text[0] == '[');
    for (int i = 0; i < component; i++)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

typedef struct row {
    const char *path;
    double value;
    int component;
} row;

static void expect(const yk_option_section *section, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const yk_option *field = find(section, rows[i].path);
        if (!field || !field->default_text)
            fail_msg("%s: %s has no default in the schema", section->name, rows[i].path);
        double printed = number_of(field, rows[i].component);
        if (printed != rows[i].value)
            fail_msg("%s: %s is %s in scenarios and %.17g in C", section->name, rows[i].path,
                     field->default_text, rows[i].value);
    }
}

#define EXPECT(section, rows) expect(section, rows, sizeof(rows) / sizeof *(rows))

static void smooth(void **state)
{
    (void)state;
    yk_multibody_def def = yk_multibody_default();
    const yk_multibody_options *o = &def.options;
    yk_multibody_node_def node = yk_multibody_node_default();
    yk_beam_section_def section = yk_beam_section_default();
    yk_force_def force = yk_force_default();
    const row rows[] = {
        {"gravity", def.gravity.x, 0},
        {"gravity", def.gravity.y, 1},
        {"gravity", def.gravity.z, 2},
        {"start_in_equilibrium", o->start_in_equilibrium, 0},
        {"integrator.two-step.rho_inf", o->rho_inf, 0},
        {"integrator.two-step.step_tolerance", o->error_tolerance, 0},
        {"integrator.two-step.newton_relative_tolerance", o->newton_relative_tolerance, 0},
        {"integrator.two-step.newton_absolute_tolerance", o->newton_absolute_tolerance, 0},
        {"integrator.two-step.max_newton_iterations", o->max_newton_iterations, 0},
        {"integrator.generalized-alpha.formulation", o->formulation, 0},
        {"integrator.generalized-alpha.rho_inf", o->rho_inf, 0},
        {"integrator.generalized-alpha.stabilization_rate", o->stabilization_rate, 0},
        {"nodes.position", node.position.x, 0},
        {"nodes.orientation", node.orientation.w, 0},
        {"nodes.velocity", node.velocity.z, 2},
        {"bodies.position", node.position.x, 0},
        {"beams.section.rectangle.poisson_ratio", section.poisson_ratio, 0},
        {"beams.section.rectangle.rayleigh_beta", section.rayleigh_beta, 0},
        {"forces.spring.stiffness", force.stiffness, 0},
        {"forces.spring.damping", force.damping, 0},
        {"forces.spring.free_length", force.free_length, 0},
    };
    EXPECT(&yk_multibody_section, rows);
}

static void nonsmooth(void **state)
{
    (void)state;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    yk_packing_def packing = yk_packing_default();
    const row rows[] = {
        {"gravity", def.gravity.x, 0},
        {"gravity", def.gravity.z, 2},
        {"contact.method", def.contact_options.method, 0},
        {"contact.friction_model", def.contact_options.friction_model, 0},
        {"contact.max_iterations", def.contact_options.max_iterations, 0},
        {"contact.tolerance", def.contact_options.tolerance, 0},
        {"contact.relaxation_factor", def.contact_options.relaxation_factor, 0},
        {"contact.envelope", def.envelope, 0},
        {"contact.max_recovery_speed", def.max_recovery_speed, 0},
        {"contact.min_bounce_speed", def.min_bounce_speed, 0},
        {"contact.impact_law", def.impact_law, 0},
        {"contact.max_contacts", def.contact_capacity, 0},
        {"threads", def.thread_count, 0},
        {"sleeping.speed_threshold", def.sleeping.speed_threshold, 0},
        {"sleeping.angular_speed_threshold", def.sleeping.angular_speed_threshold, 0},
        {"sleeping.delay", def.sleeping.delay, 0},
        {"bodies.position", body.position.x, 0},
        {"particles.settled.size_spread", packing.spread, 0},
        {"particles.settled.size_distribution", packing.size_distribution, 0},
        {"particles.settled.size_cutoff", packing.size_cutoff, 0},
        {"particles.settled.aligned", packing.aligned, 0},
        {"particles.settled.clearance", packing.clearance, 0},
        {"particles.settled.position_jitter", packing.jitter, 0},
        {"particles.settled.seed", (double)packing.seed, 0},
        {"particles.settled.settling.step", packing.settling_step, 0},
        {"particles.settled.settling.max_time", packing.max_settling_time, 0},
        {"particles.settled.settling.max_shakes", packing.max_shakes, 0},
        {"particles.settled.settling.shake_amplitude", packing.shake_amplitude, 0},
        {"particles.settled.settling.shake_frequency", packing.shake_frequency, 0},
    };
    EXPECT(&yk_nonsmooth_section, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth),
        cmocka_unit_test(nonsmooth),
    };
    return cmocka_run_group_tests_name("defaults", tests, NULL, NULL);
}
