/* The scenes in Open Dynamics Engine. Methods: quick (iterative, 50 sweeps), exact (a dense LCP, dWorldStep). */
#define dDOUBLE
#include "scene.h"

#include <ode/ode.h>

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static double friction;

static void add_contacts(void *user, dGeomID a, dGeomID b)
{
    (void)user;
    dContact contact[8];
    int count = dCollide(a, b, 8, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; i++) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = friction;
        dJointAttach(dJointCreateContact(world, contacts, &contact[i]), dGeomGetBody(a),
                     dGeomGetBody(b));
    }
}

static void step_once(const request *r)
{
    dSpaceCollide(space, NULL, add_contacts);
    if (strcmp(r->method, "exact") == 0)
        dWorldStep(world, r->step);
    else
        dWorldQuickStep(world, r->step);
    dJointGroupEmpty(contacts);
}

static int run_chain(const request *r)
{
    dBodyID *body = (dBodyID *)calloc((size_t)r->count, sizeof *body);
    for (int i = 0; i < r->count; i++) {
        body[i] = dBodyCreate(world);
        dMass mass;
        dMassSetParameters(&mass, LINK_MASS, 0, 0, 0, link_inertia_along(), link_inertia_across(),
                           link_inertia_across(), 0, 0, 0);
        dBodySetMass(body[i], &mass);
        dBodySetPosition(body[i], (i + 0.5) * LINK_LENGTH, 0, 0);
        dJointID pin = dJointCreateHinge(world, 0);
        dJointAttach(pin, body[i], i > 0 ? body[i - 1] : 0);
        dJointSetHingeAnchor(pin, i * LINK_LENGTH, 0, 0);
        dJointSetHingeAxis(pin, 0, 1, 0);
    }
    int steps = (int)lround(CHAIN_END / r->step);
    double began = cpu_seconds();
    for (int i = 0; i < steps; i++)
        step_once(r);
    double seconds = cpu_seconds() - began;

    link_state *links = (link_state *)calloc((size_t)r->count, sizeof *links);
    for (int i = 0; i < r->count; i++) {
        const dReal *x = dBodyGetPosition(body[i]), *v = dBodyGetLinearVel(body[i]),
                    *w = dBodyGetAngularVel(body[i]);
        dVector3 axis;
        dBodyVectorToWorld(body[i], 1, 0, 0, axis);
        links[i] = (link_state){x[0], x[2], v[0], v[2], w[1], axis[0], axis[2]};
    }
    report_chain("ODE", r->method, r->count, r->step, steps, seconds, links);
    free(links);
    free(body);
    return 0;
}

static int run_heap(const request *r)
{
    double half = heap_width() / 2;
    friction = HEAP_FRICTION;
    dCreatePlane(space, 0, 0, 1, 0);
    dCreatePlane(space, 1, 0, 0, -half);
    dCreatePlane(space, -1, 0, 0, -half);
    dCreatePlane(space, 0, 1, 0, -half);
    dCreatePlane(space, 0, -1, 0, -half);
    dBodyID *body = (dBodyID *)calloc((size_t)r->count, sizeof *body);
    for (int i = 0; i < r->count; i++) {
        double center[3];
        heap_start(i, center);
        body[i] = dBodyCreate(world);
        dMass mass;
        dMassSetSphereTotal(&mass, sphere_mass(), SPHERE_RADIUS);
        dBodySetMass(body[i], &mass);
        dBodySetPosition(body[i], center[0], center[1], center[2]);
        dGeomSetBody(dCreateSphere(space, SPHERE_RADIUS), body[i]);
    }
    int steps = (int)lround(HEAP_END / r->step), measured = (int)lround(HEAP_MEASURED / r->step);
    double began = 0;
    for (int i = 0; i < steps; i++) {
        if (i == steps - measured)
            began = cpu_seconds();
        step_once(r);
    }
    double seconds = cpu_seconds() - began;

    double(*center)[3] = (double(*)[3])calloc((size_t)r->count, sizeof *center);
    double(*velocity)[3] = (double(*)[3])calloc((size_t)r->count, sizeof *velocity);
    for (int i = 0; i < r->count; i++) {
        memcpy(center[i], dBodyGetPosition(body[i]), sizeof center[i]);
        memcpy(velocity[i], dBodyGetLinearVel(body[i]), sizeof velocity[i]);
    }
    report_heap("ODE", r->method, r->count, r->step, measured, seconds, (const double(*)[3])center,
                (const double(*)[3])velocity);
    free(center);
    free(velocity);
    free(body);
    return 0;
}

static int run_stack(const request *r)
{
    friction = STACK_FRICTION;
    dCreatePlane(space, 0, 0, 1, 0);
    dBodyID body = 0;
    for (int i = 0; i < STACK_BOXES; i++) {
        body = dBodyCreate(world);
        dMass mass;
        dMassSetBoxTotal(&mass, i == STACK_BOXES - 1 ? TOP_MASS : BOX_MASS, BOX_EDGE, BOX_EDGE,
                         BOX_EDGE);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, 0, 0, (i + 0.5) * BOX_EDGE);
        dGeomSetBody(dCreateBox(space, BOX_EDGE, BOX_EDGE, BOX_EDGE), body);
    }
    int steps = (int)lround(STACK_END / r->step);
    double seconds = 0, speed = 0;
    for (int i = 0; i < steps; i++) {
        double began = cpu_seconds();
        step_once(r);
        seconds += cpu_seconds() - began;
        const dReal *v = dBodyGetLinearVel(body);
        if (i >= steps - steps / 5)
            speed = fmax(speed, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    report_stack("ODE", r->method, r->step, steps, seconds, dBodyGetPosition(body), speed);
    return 0;
}

int main(int argc, char **argv)
{
    request r = read_request(argc, argv);
    if (strcmp(r.method, "quick") != 0 && strcmp(r.method, "exact") != 0)
        return unknown_method(&r);
    dInitODE2(0);
    world = dWorldCreate();
    space = dHashSpaceCreate(0);
    contacts = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -GRAVITY);
    dWorldSetQuickStepNumIterations(world, 50);
    return strcmp(r.scene, "chain") == 0  ? run_chain(&r)
           : strcmp(r.scene, "heap") == 0 ? run_heap(&r)
                                          : run_stack(&r);
}
