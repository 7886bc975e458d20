#include "analysis/candidates.h"

#include <stdio.h>
#include <string.h>

#include "analysis/finding.h"

static void fill(const yk_scheme_ops *scheme, const yk_scheme_variant *variant, yk_choice *choice)
{
    *choice = (yk_choice){
        .scheme = scheme, .variant = variant, .name = variant ? variant->name : scheme->name};
    snprintf(choice->changes[choice->change_count++], sizeof choice->changes[0],
             "coupling.scheme=%s", scheme->name);
    for (int i = 0; variant && i < YK_CHOICE_OPTIONS && variant->options[i]; i++)
        snprintf(choice->changes[choice->change_count++], sizeof choice->changes[0], "coupling.%s",
                 variant->options[i]);
}

int yk_choices(unsigned purpose, yk_choice *list)
{
    int count = 0;
    const yk_scheme_ops *scheme;
    for (int i = 0; (scheme = yk_scheme_at(i)); i++) {
        const yk_scheme_variant *variant = scheme->variants;
        for (; variant && variant->name && count < YK_CHOICES_MAX; variant++) {
            if (!(variant->purpose & purpose))
                continue;

            /* By cost; those that cost the same stay in the order of the schemes. */
            int place = count++;
            for (; place > 0 && list[place - 1].variant->cost > variant->cost; place--)
                list[place] = list[place - 1];
            fill(scheme, variant, &list[place]);
        }
    }
    return count;
}

int yk_candidates(yk_choice *list)
{
    int count = yk_choices(YK_VARIANT_CANDIDATE, list), offered = count;
    const yk_scheme_ops *scheme;
    for (int i = 0; (scheme = yk_scheme_at(i)) && count < YK_CHOICES_MAX; i++) {
        bool listed = false;
        for (int k = 0; k < offered; k++)
            listed = listed || list[k].scheme == scheme;
        if (!listed)
            fill(scheme, NULL, &list[count++]);
    }
    return count;
}

const yk_scheme_ops *yk_scheme_with(unsigned trait)
{
    const yk_scheme_ops *scheme;
    for (int i = 0; (scheme = yk_scheme_at(i)); i++)
        if (yk_scheme_traits(&(yk_scheme_def){.ops = scheme}) & trait)
            return scheme;
    return NULL;
}

bool yk_scheme_fits(const yk_scheme_ops *scheme, const yk_scenario_info *info)
{
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    yk_scheme_fill(scheme, options);
    if (scheme->traits(options) & YK_SCHEME_NEEDS_ROLLBACK)
        for (int i = 0; i < info->subsystem_count; i++)
            if (!info->subsystems[i]->ops->rollback)
                return false;

    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        const yk_joined_ports joined = {.subsystem = {info->subsystems[def->wrench_subsystem],
                                                      info->subsystems[def->motion_subsystem]},
                                        .number = {def->wrench_subsystem, def->motion_subsystem},
                                        .port = {def->wrench_port, def->motion_port}};
        yk_causality takes[2] = {YK_TAKES_WRENCH, YK_TAKES_MOTION};
        if (scheme->second_side)
            takes[1] = scheme->second_side(options, &joined);
        for (int side = 0; side < 2; side++) {
            const yk_port *ports;
            joined.subsystem[side]->ops->ports(joined.subsystem[side], &ports);
            if (!(ports[joined.port[side]].causalities & takes[side]))
                return false;
        }
    }
    return true;
}

void yk_choice_offer(const yk_choice *choice, const yk_scenario_info *info, yk_finding *finding)
{
    char overrides[YK_CHOICES_MAX * 8] = "";
    size_t used = 0;
    for (int i = 0; i < choice->change_count && used < sizeof overrides; i++)
        used += (size_t)snprintf(overrides + used, sizeof overrides - used, "%s%s", i ? " " : "",
                                 choice->changes[i]);

    bool same = choice->scheme == info->scheme.ops && choice->change_count > 1;
    const char *change = choice->changes[same ? 1 : 0], *equals = strchr(change, '=');
    yk_finding_remedy(finding, overrides, "use %.*s %s", (int)(equals - change), change,
                      equals + 1);
}

void yk_candidate_block(const yk_variant *variant, char *text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i <= variant->override_count && used < capacity; i++) {
        bool last = i == variant->override_count;
        const char *key = last ? "" : variant->overrides[i] + strlen("coupling."),
                   *equals = strchr(key, '=');
        int added = last ? snprintf(text + used, capacity - used, "}")
                         : snprintf(text + used, capacity - used, "%s%.*s: %s",
                                    i ? ", " : "coupling: {", (int)(equals - key), key, equals + 1);
        used += added > 0 ? (size_t)added : 0;
    }
}
