/* What a run is made of besides the text of its scenario: the version of the program, and the files
 * that the scenario names, by a hash of their bytes. As comments, to stand before that text in a
 * record:
 *
 *   # version 0.1.0
 *   # scenario models/modal-cantilever/scenario.yaml
 *   # 8b1f0c63a2d94e57 models/modal-cantilever/frequencies.csv */
#ifndef YK_MODEL_INPUTS_H
#define YK_MODEL_INPUTS_H

#include "yoke/model.h"

/* To be given back with yk_release; NULL when out of memory. */
char *yk_scenario_inputs(const yk_scenario *scenario);

#endif
