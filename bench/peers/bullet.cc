// The scenes in Bullet, in double precision. Methods: chain featherstone; heap impulses; stack impulses, dantzig.
#include "scene.h"

#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>
#include <vector>

static int run_chain(const request &r)
{
    if (strcmp(r.method, "featherstone") != 0)
        return unknown_method(&r);
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, 0, -GRAVITY));
    btMultiBody chain(r.count, 0, btVector3(0, 0, 0), true, false);
    chain.setLinearDamping(0);
    chain.setAngularDamping(0);
    btVector3 inertia(link_inertia_along(), link_inertia_across(), link_inertia_across()), half(LINK_LENGTH / 2, 0, 0);
    for (int i = 0; i < r.count; i++)
        chain.setupRevolute(i, LINK_MASS, inertia, i - 1, btQuaternion::getIdentity(), btVector3(0, 1, 0), i > 0 ? half : btVector3(0, 0, 0), half,
                            true);
    chain.finalizeMultiDof();
    chain.setMaxCoordinateVelocity(1e30);
    world.addMultiBody(&chain);
    int steps = (int)lround(CHAIN_END / r.step);
    double began = cpu_seconds();
    for (int i = 0; i < steps; i++)
        world.stepSimulation(r.step, 0);
    double seconds = cpu_seconds() - began;

    std::vector<double> angle(r.count), rate(r.count);
    for (int i = 0; i < r.count; i++) {
        angle[i] = chain.getJointPos(i);
        rate[i] = chain.getJointVel(i);
    }
    std::vector<link_state> links(r.count);
    links_from_angles(r.count, angle.data(), rate.data(), links.data());
    report_chain("Bullet", r.method, r.count, r.step, steps, seconds, links.data());
    world.removeMultiBody(&chain);
    return 0;
}

static int run_bodies(const request &r)
{
    bool is_heap = strcmp(r.scene, "heap") == 0, exact = strcmp(r.method, "dantzig") == 0;
    if (!exact && strcmp(r.method, "impulses") != 0)
        return unknown_method(&r);
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver iterative;
    btDantzigSolver dantzig;
    btMLCPSolver direct(&dantzig);
    btDiscreteDynamicsWorld world(&dispatcher, &broadphase, exact ? (btConstraintSolver *)&direct : &iterative, &configuration);
    world.setGravity(btVector3(0, 0, -GRAVITY));
    world.getSolverInfo().m_numIterations = 50;

    double half = heap_width() / 2, friction = sqrt(is_heap ? HEAP_FRICTION : STACK_FRICTION); // Bullet multiplies both sides.
    btStaticPlaneShape walls[] = {{btVector3(0, 0, 1), 0}, {btVector3(1, 0, 0), -half}, {btVector3(-1, 0, 0), -half}, {btVector3(0, 1, 0), -half},
                                  {btVector3(0, -1, 0), -half}};
    btSphereShape sphere(SPHERE_RADIUS);
    btBoxShape box(btVector3(BOX_EDGE / 2, BOX_EDGE / 2, BOX_EDGE / 2));
    std::vector<btRigidBody *> body;
    auto add = [&](btCollisionShape *shape, double mass, const btVector3 &position) {
        btVector3 inertia(0, 0, 0);
        if (mass > 0)
            shape->calculateLocalInertia(mass, inertia);
        btRigidBody *added = new btRigidBody(mass, new btDefaultMotionState(btTransform(btQuaternion::getIdentity(), position)), shape, inertia);
        added->setFriction(friction);
        added->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(added);
        body.push_back(added);
    };
    int fixed = is_heap ? 5 : 1, count = is_heap ? r.count : STACK_BOXES;
    for (int i = 0; i < fixed; i++)
        add(&walls[i], 0, btVector3(0, 0, 0));
    for (int i = 0; i < count; i++) {
        double center[3];
        heap_start(i, center);
        if (is_heap)
            add(&sphere, sphere_mass(), btVector3(center[0], center[1], center[2]));
        else
            add(&box, i == STACK_BOXES - 1 ? TOP_MASS : BOX_MASS, btVector3(0, 0, (i + 0.5) * BOX_EDGE));
    }

    double end = is_heap ? HEAP_END : STACK_END, speed = 0, seconds = 0;
    int steps = (int)lround(end / r.step), measured = is_heap ? (int)lround(HEAP_MEASURED / r.step) : steps;
    btRigidBody *last = body.back();
    for (int i = 0; i < steps; i++) {
        double began = cpu_seconds();
        world.stepSimulation(r.step, 0);
        if (i >= steps - measured)
            seconds += cpu_seconds() - began;
        if (i >= steps - steps / 5)
            speed = fmax(speed, last->getLinearVelocity().length());
    }

    if (is_heap) {
        double(*center)[3] = (double(*)[3])calloc(count, sizeof *center), (*velocity)[3] = (double(*)[3])calloc(count, sizeof *velocity);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) {
                center[i][k] = body[fixed + i]->getWorldTransform().getOrigin()[k];
                velocity[i][k] = body[fixed + i]->getLinearVelocity()[k];
            }
        }
        report_heap("Bullet", r.method, count, r.step, measured, seconds, center, velocity);
    } else {
        const btVector3 &at = last->getWorldTransform().getOrigin();
        double top[3] = {at[0], at[1], at[2]};
        report_stack("Bullet", r.method, r.step, steps, seconds, top, speed);
    }
    return 0;
}

int main(int argc, char **argv)
{
    request r = read_request(argc, argv);
    return strcmp(r.scene, "chain") == 0 ? run_chain(r) : run_bodies(r);
}
