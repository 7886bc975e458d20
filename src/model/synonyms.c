#include "model/synonyms.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Each row: a word of scenarios, and what else it is called in other programs and in daily use. */
enum { OTHERS_MAX = 8 };
static const struct {
    const char *word;
    const char *others[OTHERS_MAX + 1];
} synonyms[] = {
    {"step", {"dt", "h", "delta_t", "timestep", "time_step", "step_size", "stepsize"}},
    {"end", {"duration", "t_end", "tend", "stop", "final", "until"}},
    {"start", {"begin", "t_start", "t0"}},
    {"position", {"pos", "location", "place", "origin", "xyz"}},
    {"orientation", {"rotation", "rot", "attitude", "quaternion", "rpy"}},
    {"velocity", {"vel", "speed"}},
    {"angular_velocity", {"omega", "spin", "rotation_rate"}},
    {"revolute", {"hinge", "pin", "pivot", "pinned"}},
    {"spherical", {"ball", "ball-joint", "ball_joint", "point"}},
    {"prismatic", {"slider", "slide", "translational", "sliding"}},
    {"clamp", {"fixed", "weld", "rigid", "lock", "fix"}},
    {"universal", {"cardan", "hooke"}},
    {"ground", {"world", "earth", "base", "inertial", "fixed", "origin"}},
    {"solver", {"type", "kind", "engine"}},
    {"subsystems", {"parts", "components", "models", "submodels"}},
    {"interfaces", {"connections", "couplings", "connectors"}},
    {"between", {"connect", "connects", "ports", "sides"}},
    {"record", {"output", "outputs", "results", "log"}},
    {"channels", {"signals", "variables", "outputs"}},
    {"acceleration", {"relaxation", "accelerate"}},
    {"wrenches", {"efforts", "forces"}},
    {"coupling", {"cosimulation", "master", "algorithm"}},
    {"scheme", {"algorithm", "method", "coupling"}},
    {"inertia", {"moments", "inertia_tensor", "moment_of_inertia", "moi"}},
    {"stiffness", {"k", "spring_constant", "spring_rate"}},
    {"damping", {"c", "d", "damper", "viscosity"}},
    {"free_length", {"length0", "rest_length", "l0", "natural_length"}},
    {"friction", {"mu", "friction_coefficient"}},
    {"restitution", {"cor", "bounce", "e"}},
    {"integrator", {"method", "solver", "integration"}},
    {"gauss-seidel", {"sequential", "serial"}},
    {"jacobi", {"parallel"}},
    {"tight", {"strong", "implicit", "iterative"}},
    {"monolithic", {"merged", "single", "one"}},
};

const char *yk_word_meant(const char *word, const char *const *valid)
{
    /* Another name is meant where the word that it stands for could stand here. */
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const char *const *at = valid;
        while (*at && strcmp(*at, synonyms[i].word) != 0)
            at++;
        if (!*at)
            continue;

        for (int k = 0; synonyms[i].others[k]; k++)
            if (strcasecmp(word, synonyms[i].others[k]) == 0)
                return *at;
    }

    return yk_text_nearest(word, valid);
}
