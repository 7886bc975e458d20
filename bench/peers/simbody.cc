// The chain in Simbody. Methods: semi-explicit-euler (steps of one size), runge-kutta-merson (accuracy 1e-6), reference (1e-12).
#include "scene.h"

#include <SimTKsimbody.h>
#include <memory>
#include <vector>

using namespace SimTK;

int main(int argc, char **argv)
{
    request r = read_request(argc, argv);
    if (strcmp(r.scene, "chain") != 0)
        return unknown_method(&r);
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -GRAVITY));
    Body::Rigid link(MassProperties(LINK_MASS, Vec3(0), Inertia(link_inertia_along(), link_inertia_across(), link_inertia_across())));
    Rotation about_y(-Pi / 2, XAxis);
    MobilizedBody before = matter.Ground();
    for (int i = 0; i < r.count; i++)
        before = MobilizedBody::Pin(before, Transform(about_y, Vec3(i > 0 ? LINK_LENGTH / 2 : 0, 0, 0)), link,
                                    Transform(about_y, Vec3(-LINK_LENGTH / 2, 0, 0)));
    State start = system.realizeTopology();

    std::unique_ptr<Integrator> integrator;
    if (strcmp(r.method, "semi-explicit-euler") == 0) {
        integrator.reset(new SemiExplicitEulerIntegrator(system, r.step));
    } else if (strcmp(r.method, "runge-kutta-merson") == 0 || strcmp(r.method, "reference") == 0) {
        integrator.reset(new RungeKuttaMersonIntegrator(system));
        integrator->setAccuracy(r.method[1] == 'u' ? 1e-6 : 1e-12);
    } else {
        return unknown_method(&r);
    }
    TimeStepper stepper(system, *integrator);
    stepper.initialize(start);
    double began = cpu_seconds();
    stepper.stepTo(CHAIN_END);
    double seconds = cpu_seconds() - began;

    const State &state = integrator->getState();
    std::vector<double> angle(r.count), rate(r.count);
    for (int i = 0; i < r.count; i++) {
        angle[i] = state.getQ()[i];
        rate[i] = state.getU()[i];
    }
    std::vector<link_state> links(r.count);
    links_from_angles(r.count, angle.data(), rate.data(), links.data());
    int steps = integrator->getNumStepsTaken();
    report_chain("Simbody", r.method, r.count, CHAIN_END / steps, steps, seconds, links.data());
    return 0;
}
