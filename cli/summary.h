/* Summary of a run: what it cost, how well its interfaces held, and whether to trust it. */
#ifndef YOKE_CLI_SUMMARY_H
#define YOKE_CLI_SUMMARY_H

#include "cli.h"
#include "json.h"

/* A number with as many of 6 digits as it needs, and with an exponent below 0.01: "1e-04". */
void format_number(char *text, size_t capacity, double value);

/* Title, scheme, step and end of a run that begins. */
void print_headline(const yk_scenario_info *info);

/* Tables, then the verdict with its findings. If the run is not trustworthy, the tables that would
 * push the findings off the screen are left out, unless `verbose`. */
void print_summary(const loaded *l, const yk_run_report *report, bool verbose);

/* The files that were written, and the hash of the final state. */
void print_results(const option_list *files, const yk_run_report *report);

bool has_serious_finding(const yk_run_report *report);

/* On stderr, a paragraph each: "yoke: LEAD: NAME at interface 'X': message" and the remedies. */
void print_warnings(const char *lead, const yk_scenario_info *info, const yk_finding *findings,
                    int count);

/* On stdout: a numbered list of findings with their remedies; a remedy is printed once. */
void print_findings(const yk_scenario_info *info, const yk_finding *findings, int count);

/* The same as data: "findings" as an array, and the whole run as a document on standard output.
 * `status` is that of the run. */
void write_findings_json(json_writer *json, const yk_scenario_info *info,
                         const yk_finding *findings, int count);
void write_run_json(const loaded *l, const yk_run_report *report, yk_status status,
                    const option_list *files);

#endif
