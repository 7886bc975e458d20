// Forces of contacts. Between particles they are bars from centre to centre, which join into force chains; elsewhere
// arrows from the point of contact, on the side that the normal points to. Both are as thick as the force is large.

import { Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { Frames } from "./data";

const CAPACITY = 20000; // bars at once
const LIGHT = new Color("#f7b955"); // of the weakest forces
const STRONG = new Color("#a3123f");
const UP_Y = new Vector3(0, 1, 0);

export interface Particle {
  body: number;
  radius: number;
}

/** Particles of one frame by the cells that their centres lie in. */
class Grid {
  private readonly next: Int32Array;
  private readonly heads: Int32Array;
  private readonly centres: Float32Array;
  private readonly cell: number;

  constructor(private readonly particles: Particle[]) {
    this.next = new Int32Array(particles.length);
    this.centres = new Float32Array(3 * particles.length);
    this.cell = 1.5 * particles.reduce((most, particle) => Math.max(most, particle.radius), 1e-12);
    let size = 64;
    while (size < 2 * particles.length) size *= 2;
    this.heads = new Int32Array(size);
  }

  private slot(i: number, j: number, k: number): number {
    return (Math.imul(i, 73856093) ^ Math.imul(j, 19349663) ^ Math.imul(k, 83492791)) & (this.heads.length - 1);
  }

  fill(frames: Frames, frame: number): void {
    this.heads.fill(-1);
    this.particles.forEach((particle, n) => {
      frames.readPosition(particle.body, frame, 0, this.centres, 3 * n);
      const { centres, cell } = this;
      if (Number.isNaN(centres[3 * n])) return; // not there
      const slot = this.slot(Math.floor(centres[3 * n] / cell), Math.floor(centres[3 * n + 1] / cell), Math.floor(centres[3 * n + 2] / cell));
      this.next[n] = this.heads[slot];
      this.heads[slot] = n;
    });
  }

  /** The particle whose surface is at a point, seen from there along a direction; -1: none. */
  find(point: Vector3, direction: Vector3): number {
    let found = -1;
    let least = 0.25; // of the radius
    const [i, j, k] = point.toArray().map((x) => Math.floor(x / this.cell));
    for (let a = i - 1; a <= i + 1; a++)
      for (let b = j - 1; b <= j + 1; b++)
        for (let c = k - 1; c <= k + 1; c++)
          for (let n = this.heads[this.slot(a, b, c)]; n >= 0; n = this.next[n]) {
            const r = this.particles[n].radius;
            const dx = this.centres[3 * n] - point.x - r * direction.x;
            const dy = this.centres[3 * n + 1] - point.y - r * direction.y;
            const dz = this.centres[3 * n + 2] - point.z - r * direction.z;
            const off = Math.hypot(dx, dy, dz) / r;
            if (off < least) {
              least = off;
              found = n;
            }
          }
    return found;
  }
}

export class ContactForces {
  private readonly bars: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly grid: Grid;
  private drawn = new Float32Array(); // numbers of the contacts that are drawn
  private largest = 0; // the force that is drawn thickest (N)
  visible = false;

  constructor(
    root: Group,
    private readonly frames: Frames,
    private readonly particles: Particle[],
    private readonly size: number, // of the model
    private readonly radius: number, // of slender things
  ) {
    const capacity = Math.max(1, Math.min(CAPACITY, frames.scene.contacts));
    const make = (geometry: CylinderGeometry) => {
      // Seen through what is in front of them: what happens inside a pile is what one looks for.
      const mesh = new InstancedMesh(geometry.translate(0, 0.5, 0), new MeshBasicMaterial({ depthTest: false, transparent: true }), capacity);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.renderOrder = 5;
      mesh.raycast = () => undefined; // it cannot be picked
      mesh.setColorAt(0, LIGHT);
      root.add(mesh);
      return mesh;
    };
    this.bars = make(new CylinderGeometry(1, 1, 1, 8));
    this.heads = make(new ConeGeometry(1, 1, 12));
    this.grid = new Grid(particles);
    this.measure();
  }

  /** After frames were added. */
  measure(): void {
    this.largest = this.frames.contacts.usualForce;
  }

  get any(): boolean {
    return this.largest > 0;
  }

  get largestForce(): number {
    return this.largest;
  }

  /** The drawn contacts, for tests: point, normal and force of each contact. */
  get shown(): number[][] {
    if (!this.bars.visible) return [];
    return Array.from({ length: this.bars.count }, (_, i) => [...this.drawn.subarray(9 * i, 9 * i + 9)]);
  }

  move(frame: number, part: number): void {
    this.bars.visible = this.heads.visible = this.visible && this.largest > 0;
    if (!this.bars.visible) return;

    // Contacts do not move from frame to frame, they come and go: those of the nearer frame are shown.
    const near = part > 0.5 ? frame + 1 : frame;
    const values = (this.drawn = this.frames.contacts.of(near));
    const forceOf = (i: number) => Math.hypot(values[9 * i + 6], values[9 * i + 7], values[9 * i + 8]);
    const order = Array.from({ length: values.length / 9 }, (_, i) => i);
    order.sort((a, b) => forceOf(a) - forceOf(b)); // the strongest is drawn last
    this.grid.fill(this.frames, near);

    let arrows = 0;
    let drawn = 0;
    const colour = new Color();
    for (const i of order.slice(-this.bars.instanceMatrix.count)) {
      const at = 9 * i;
      const weight = Math.min(1, forceOf(i) / this.largest);
      colour.copy(LIGHT).lerp(STRONG, weight);
      const point = new Vector3(values[at], values[at + 1], values[at + 2]);
      const normal = new Vector3(values[at + 3], values[at + 4], values[at + 5]);
      const beyond = this.grid.find(point, normal);
      const before = this.grid.find(point, normal.clone().negate());
      if (beyond >= 0 || before >= 0) {
        const [a, b] = [before, beyond].map((n) => (n >= 0 ? this.centre(n, frame, part) : point));
        const thick = this.particles[Math.max(before, beyond)].radius;
        this.stretch(this.bars, drawn, a, b, Math.max(0.06, 0.5 * weight) * thick);
      } else {
        const along = new Vector3(values[at + 6], values[at + 7], values[at + 8]).normalize();
        const tip = 3.2 * this.radius;
        const length = Math.max(1.3 * tip, 0.1 * this.size * weight);
        const neck = point.clone().addScaledVector(along, length - tip);
        this.stretch(this.bars, drawn, point, neck, (0.2 + 0.4 * weight) * this.radius);
        this.stretch(this.heads, arrows, neck, point.clone().addScaledVector(along, length), 1.25 * this.radius);
        this.heads.setColorAt(arrows++, colour);
      }
      this.bars.setColorAt(drawn++, colour);
    }
    this.bars.count = drawn;
    this.heads.count = arrows;
    for (const mesh of [this.bars, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor!.needsUpdate = true;
    }
  }

  private centre(particle: number, frame: number, part: number): Vector3 {
    const p = [0, 0, 0];
    this.frames.readPosition(this.particles[particle].body, frame, part, p);
    if (Number.isNaN(p[0])) this.frames.readPosition(this.particles[particle].body, frame, 0, p); // gone in the next one
    return new Vector3().fromArray(p);
  }

  private stretch(mesh: InstancedMesh, i: number, a: Vector3, b: Vector3, radius: number): void {
    const along = b.clone().sub(a);
    const length = Math.max(along.length(), 1e-12);
    const turn = new Quaternion().setFromUnitVectors(UP_Y, along.divideScalar(length));
    mesh.setMatrixAt(i, new Matrix4().compose(a, turn, new Vector3(radius, length, radius)));
  }
}
