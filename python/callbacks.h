/* Functions that are implemented in Python. cffi defines them, each static in the extension module. */
int yoke_py_check_signals(void *handle);
bool yoke_py_progress(void *handle, const yk_run_progress *progress);
bool yoke_py_count_progress(void *handle, int done, int total);
bool yoke_py_fraction_progress(void *handle, double fraction);
void yoke_py_text_progress(void *handle, const char *text);
void yoke_py_map_progress(void *handle, double fraction);
void yoke_py_log(void *handle, yk_log_level level, const char *message);
yk_status yoke_py_on_step(void *handle, yk_system *system, double time);
double yoke_py_time_function(void *handle, double t);
double yoke_py_feedback(void *handle, double t, const double *inputs);

/* Operations of a subsystem that is written in Python. */
yk_status yoke_py_connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained);
yk_status yoke_py_initialize(yk_subsystem *self, double t, double h, const yk_input *inputs);
yk_status yoke_py_subsystem_step(yk_subsystem *self, double t, double h, const yk_input *inputs);
void yoke_py_destroy(yk_subsystem *self);
yk_status yoke_py_set_state(yk_subsystem *self, const double *image);
void yoke_py_energy(const yk_subsystem *self, yk_energy *energy);
double yoke_py_next_event(const yk_subsystem *self, double t);
yk_status yoke_py_sensitivity(yk_subsystem *self, double t, double h, const yk_input *inputs, int degree, double *matrix);

/* A server of subsystems that are written in Python. */
yk_status yoke_py_serve(void *handle, yk_context *context, const char *name, yk_subsystem **subsystem);
bool yoke_py_wait_for_clients(void *handle, const char *address);
