#include "record/channel_names.h"

#include <stdio.h>
#include <string.h>

typedef struct renamed_part {
    const char *old_name, *new_name;
} renamed_part;

/* Last parts of channel names that were renamed for format version 2. */
static const renamed_part renamed_parts[] = {
    {"gap", "gap_position"},
    {"contacts", "contact_count"},
    {"overlap", "max_penetration"},
    {"residual", "contact_residual"},
    {"largest_residual", "max_contact_residual"},
    {"largest_residual_ratio", "max_contact_residual_ratio"},
    {"unresolved", "unsolved_step_fraction"},
    {"largest_passage", "max_prescribed_penetration"},
    {"asleep", "sleeping_count"},
    {"particles", "particle_positions"},
    {"present", "particle_count"},
    {"present_mass", "particle_mass"},
    {"shortfall", "emitter_shortfall"},
    {"exhausted", "emitter_exhausted"},
    {"emitted", "emitted_count"},
    {"waiting", "waiting_count"},
    {"removed", "removed_count"},
    {"angle_rate", "angular_velocity"},
    {"displacement_rate", "velocity"},
    {"stretch", "elongation"},
    {"stretch_rate", "elongation_rate"},
    {"force_1", "section_force_1"},
    {"force_2", "section_force_2"},
    {"moment_1", "section_moment_1"},
    {"moment_2", "section_moment_2"},
    {"opening", "spool_position"},
    {"thrust", "piston_force"},
    {"void_1", "vapor_fraction_1"},
    {"void_2", "vapor_fraction_2"},
    {"blocked_time", "backflow_blocked_time"},
    {"limit_time", "command_limited_time"},
    {"limited_time", "command_limited_time"},
};

enum { RENAMED_PARTS = sizeof renamed_parts / sizeof *renamed_parts };

/* The new name of one part, or NULL. */
static const char *find_new_part(const char *part, size_t length)
{
    for (int i = 0; i < RENAMED_PARTS; i++)
        if (strlen(renamed_parts[i].old_name) == length &&
            strncmp(renamed_parts[i].old_name, part, length) == 0)
            return renamed_parts[i].new_name;

    return NULL;
}

bool yk_channel_new_name(const char *name, char *renamed, size_t size)
{
    const char *end = name + strlen(name);
    const char *dot = strrchr(name, '.');
    if (!dot)
        return false;

    /* "coupling.iterations" counts the iterations of the coupling, SUBSYSTEM.iterations those of contacts. */
    if (strcmp(dot, ".iterations") == 0) {
        bool coupling = strncmp(name, "coupling.", (size_t)(dot + 1 - name)) == 0;
        snprintf(renamed, size, "%.*s.%s", (int)(dot - name), name,
                 coupling ? "iteration_count" : "contact_iteration_count");
        return true;
    }

    /* Modal amplitudes have any number. */
    static const char amplitude[] = ".amplitude_";
    if (strncmp(dot, amplitude, sizeof amplitude - 1) == 0) {
        snprintf(renamed, size, "%.*s.modal_%s", (int)(dot - name), name, dot + 1);
        return true;
    }

    /* The last part, or the part before a component such as ".x". */
    const char *part = dot + 1;
    const char *new_part = find_new_part(part, (size_t)(end - part));
    if (!new_part && strlen(part) <= 2) {
        end = dot;
        for (part = dot; part > name && part[-1] != '.';)
            part--;
        if (part > name)
            new_part = find_new_part(part, (size_t)(end - part));
    }

    if (!new_part)
        return false;

    snprintf(renamed, size, "%.*s%s%s", (int)(part - name), name, new_part, end);
    return true;
}
