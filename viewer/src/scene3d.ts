// The model in 3D: shapes on bodies, moved frame by frame.
//
// Solids are meshes in a group per body. Slender parts (beams, arms, springs, actuators) extend
// between two points that may belong to two bodies, and are drawn as instances that are moved in
// every frame. Particles are one set of instances, or of impostors if there are many.

import {
  AmbientLight,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CapsuleGeometry,
  CircleGeometry,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  DynamicDrawUsage,
  EdgesGeometry,
  GridHelper,
  Group,
  HemisphereLight,
  IcosahedronGeometry,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Material,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  MeshBasicMaterial,
  Object3D,
  PerspectiveCamera,
  Plane,
  PlaneGeometry,
  Points,
  Quaternion,
  Raycaster,
  Scene as ThreeScene,
  ShaderMaterial,
  SphereGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import { ContactForces } from "./contacts";
import { Frames, Kind, LinkKind, Motion, Run, Scene, Shape, unknownKind } from "./data";
import { colourOf } from "./ui";

/** The picked part: a body, or a named connection between two bodies. */
export interface Picked {
  subsystem: number;
  body: number;
  name: string; // of the shape where it has one of its own, else of the body
}

export type ViewName = "iso" | "x" | "y" | "z";

interface Slender {
  shape: Shape;
  subsystem: number;
  length: number; // at the start
}

/** Instances of one geometry, each of which can be picked. */
interface Instances {
  mesh: InstancedMesh;
  items: Slender[];
}

const BODIES_SMOOTH = 2000; // that are drawn once more, with smooth edges, when they rest
const REST = 300; // ms
const IMPOSTORS_FROM = 6000;
const FAR_AWAY = 1e9; // where particles are that are not there: behind what the camera sees
const MANY = 5000; // shapes, or points that bound them: from there on not all are looked at
const GROUND = "#8a939c"; // color of parts that belong to no subsystem
const PICKED = new Color("#ff9d2e");
const UP_Y = new Vector3(0, 1, 0);

function isSlender(kind: Kind): boolean {
  return kind === Kind.Line || kind === Kind.ThinLine || kind === Kind.Actuator;
}

function material(colour: string, options: { opacity?: number } = {}): MeshLambertMaterial {
  // Slightly behind their true depth, so that lines along edges are visible.
  const made = new MeshLambertMaterial({ color: new Color(colour), polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  if (options.opacity !== undefined) {
    made.transparent = true;
    made.opacity = options.opacity;
    made.depthWrite = false;
    made.side = DoubleSide;
    made.forceSinglePass = true; // all of one colour: which side comes first does not show
  }
  return made;
}

/** Renderer of the model. */
export interface Screen {
  renderer: WebGLRenderer;
  fast: boolean; // by a graphics processor
}

/** A canvas with a 3D context; null if the browser has none. Without a graphics processor edges are not smoothed, because this takes as long as all other drawing. */
export function openScreen(): Screen | null {
  const open = (antialias: boolean) => {
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "3D view of the model");
    return new WebGLRenderer({ canvas, antialias });
  };
  try {
    let renderer = open(true);
    const gl = renderer.getContext();
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const fast = !info || !/swiftshader|llvmpipe|software/i.test(String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)));
    if (!fast) {
      renderer.forceContextLoss();
      renderer = open(false);
    }
    renderer.setPixelRatio(fast ? Math.min(window.devicePixelRatio, 2) : 1);
    renderer.localClippingEnabled = true;
    renderer.debug.checkShaderErrors = false; // to ask is to wait for each
    return { renderer, fast };
  } catch {
    return null;
  }
}

/** The outermost of many points, along directions all around. */
function outermost(points: Vector3[]): Vector3[] {
  const count = 80;
  const kept: Vector3[] = [];
  for (let i = 0; i < count; i++) {
    const z = 1 - (2 * i + 1) / count;
    const angle = i * Math.PI * (3 - Math.sqrt(5));
    const direction = new Vector3(Math.sqrt(1 - z * z) * Math.cos(angle), Math.sqrt(1 - z * z) * Math.sin(angle), z);
    let most = -Infinity;
    let best = points[0];
    for (const point of points) {
      const along = point.dot(direction);
      if (along > most) {
        most = along;
        best = point;
      }
    }
    kept.push(best);
  }
  return kept;
}

/** A helix along y from 0 to 1 of radius 1, as a tube. */
function springGeometry(turns: number, wire: number): BufferGeometry {
  const steps = turns * 14;
  const sides = 6;
  const position: number[] = [];
  const normal: number[] = [];
  const index: number[] = [];
  for (let i = 0; i <= steps; i++) {
    const s = i / steps;
    const lead = Math.min(1, Math.min(s, 1 - s) * 12); // straight at both ends
    const a = 2 * Math.PI * turns * s;
    for (let k = 0; k < sides; k++) {
      const b = (2 * Math.PI * k) / sides;
      const r = lead + wire * Math.cos(b);
      position.push(r * Math.cos(a), s + 0.02 * wire * Math.sin(b), r * Math.sin(a));
      normal.push(Math.cos(b) * Math.cos(a), Math.sin(b), Math.cos(b) * Math.sin(a));
    }
  }
  for (let i = 0; i < steps; i++)
    for (let k = 0; k < sides; k++) {
      const a = i * sides + k;
      const b = i * sides + ((k + 1) % sides);
      index.push(a, b, a + sides, b, b + sides, a + sides);
    }
  const made = new BufferGeometry();
  made.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  made.setAttribute("normal", new BufferAttribute(new Float32Array(normal), 3));
  made.setIndex(index);
  return made;
}

/** Colours of strain from none (that of the subsystem) over yellow to red. */
function strainColour(base: Color, part: number, out: Color): Color {
  const p = Math.max(0, Math.min(1, part));
  if (p < 0.5) return out.copy(base).lerp(STRAIN_MIDDLE, 2 * p);
  return out.copy(STRAIN_MIDDLE).lerp(STRAIN_HIGH, 2 * p - 1);
}
const STRAIN_MIDDLE = new Color("#e8b93c");
const STRAIN_HIGH = new Color("#c2332b");

/** Spheres that are drawn as points with a shaded disc. */
function impostorMaterial(colour: string): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { colour: { value: new Color(colour) }, scale: { value: 1 } },
    clipping: true,
    vertexShader: `
      attribute float radius;
      uniform float scale;
      #include <clipping_planes_pars_vertex>
      void main() {
        vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
        gl_Position = projectionMatrix * mvPosition;
        gl_PointSize = scale * radius / -mvPosition.z;
        #include <clipping_planes_vertex>
      }`,
    fragmentShader: `
      uniform vec3 colour;
      #include <clipping_planes_pars_fragment>
      void main() {
        #include <clipping_planes_fragment>
        vec2 p = 2.0 * gl_PointCoord - 1.0;
        float r2 = dot(p, p);
        if (r2 > 1.0) discard;
        vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r2));
        float light = 0.45 + 0.55 * max(0.0, dot(n, normalize(vec3(0.3, 0.6, 0.75))));
        gl_FragColor = vec4(colour * light, 1.0);
        #include <colorspace_fragment>
      }`,
  });
}

export class View3D {
  readonly element: HTMLCanvasElement;
  onPick: (picked: Picked | null) => void = () => {};
  onMeasure: (text: string) => void = () => {};
  onTurn: () => void = () => {}; // the camera may have turned

  private readonly renderer: WebGLRenderer;
  private readonly three = new ThreeScene();
  private readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private root = new Group();
  private groups = new Map<number, Group>(); // of the bodies that something solid is fixed to
  private instances: Instances[] = [];
  private ends: InstancedMesh | null = null;
  private endItems: { body: number; point: Vector3; subsystem: number; scale: number }[] = [];
  private particleSets: { subsystem: number; bodies: number[]; radii: number[]; mesh: InstancedMesh | Points }[] = [];
  private barrels: InstancedMesh | null = null;
  private rods: InstancedMesh | null = null;
  private actuators: Slender[] = [];
  private arrows: { shaft: InstancedMesh; head: InstancedMesh } | null = null;
  private arrowScale = [1, 1];
  private arrowSize = [0, 0]; // N, N m: of the longest arrows
  private contacts: ContactForces | null = null;
  private containers: MeshLambertMaterial[] = [];
  private grid: GridHelper | null = null;
  private scene: Scene | null = null;
  private frames: Frames | null = null;
  private radius = 1; // of slender things
  private size = 1; // of the model
  private centre = new Vector3();
  private extremes: Vector3[] = []; // points that bound the model over the run
  private up = new Vector3(0, 0, 1);
  private strainHigh = 0;
  private time = 0;
  private followed = -1;
  private followedAt = new Vector3();
  private selected: Picked | null = null;
  private section: Plane | null = null;
  private low = new Vector3(); // corners of a box around the model over the run
  private high = new Vector3();
  private measuring: { body: number; local: Vector3 }[] | null = null;
  private measureLine: LineSegments | null = null;
  private dirty = true;
  private pixels = ""; // width, height and points per pixel
  private drawn = 0; // ms on the clock: the last picture of something that moved
  private smoothed = -1; // which of these was drawn once more
  private moved = false; // the camera, by hand
  private viewed: ViewName = "iso";
  private spread = 0; // of all points over the run
  private seen = 0; // the same when the camera was placed
  showArrows = true;
  showContacts = false;
  showStrain = true;

  constructor(private readonly screen: Screen) {
    this.renderer = screen.renderer;
    const canvas = (this.element = this.renderer.domElement);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.controls.addEventListener("start", () => (this.moved = true));
    this.three.add(this.root);
    let down: [number, number] | null = null;
    canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) this.click(event);
      down = null;
    });
  }

  // Building ------------------------------------------------------------------------------------

  /** `apart`: the run is not trusted, and parts that flew away do not count for the view. */
  load(run: Run, apart: boolean): void {
    this.three.remove(this.root);
    this.root = new Group();
    this.three.clear();
    this.three.add(this.root);
    this.scene = run.scene;
    this.frames = run.frames;
    this.groups = new Map();
    this.instances = [];
    this.particleSets = [];
    this.endItems = [];
    this.ends = this.barrels = this.rods = null;
    this.actuators = [];
    this.arrows = null;
    this.contacts = null;
    this.containers = [];
    this.grid = null;
    this.measureLine = null;
    this.measuring = null;
    this.followed = -1;
    this.selected = null;
    const scene = this.scene;
    if (!scene) return;

    this.up.fromArray(scene.up).normalize();
    this.measureModel(apart);
    const ground = new Group();
    this.root.add(ground);

    // Particles are spheres on bodies without a name, subsystem by subsystem.
    const particles = new Map<number, { bodies: number[]; radii: number[] }>();
    const lines: Slender[] = [];
    const springs: Slender[] = [];
    for (const shape of scene.shapes) {
      const subsystem = shape.body >= 0 ? scene.bodies[shape.body].subsystem : shape.end >= 0 ? scene.bodies[shape.end].subsystem : 0;
      const body = shape.body >= 0 ? scene.bodies[shape.body] : null;
      if (shape.kind === Kind.Sphere && body && !body.name && body.motion === Motion.Point) {
        const set = particles.get(subsystem) ?? { bodies: [], radii: [] };
        set.bodies.push(shape.body);
        set.radii.push(shape.size[0]);
        particles.set(subsystem, set);
      } else if (isSlender(shape.kind)) {
        const item = { shape, subsystem, length: 0 };
        if (shape.kind === Kind.Actuator) this.actuators.push(item);
        else if (shape.kind === Kind.ThinLine) springs.push(item);
        else lines.push(item);
      } else {
        this.addSolid(shape, subsystem, shape.body >= 0 ? this.groupOf(shape.body) : ground);
      }
    }
    this.addLines(lines);
    this.addSprings(springs);
    this.addActuators();
    for (const [subsystem, set] of particles) this.addParticles(subsystem, set);
    this.addArrows();
    if (this.frames && scene.contacts > 0) {
      const list = this.particleSets.flatMap((set) => set.bodies.map((body, i) => ({ body, radius: set.radii[i] })));
      this.contacts = new ContactForces(this.root, this.frames, list, this.size, this.radius);
    }
    this.addLights();
    this.addGrid();
    this.setTime(this.frames && this.frames.count ? this.frames.time[0] : 0);
    this.view("iso");
  }

  private groupOf(body: number): Group {
    let group = this.groups.get(body);
    if (!group) {
      group = new Group();
      group.matrixAutoUpdate = false;
      this.groups.set(body, group);
      this.root.add(group);
    }
    return group;
  }

  /** Points that bound a shape, each in the axes of its body. */
  private cornersOf(shape: Shape): { body: number; point: Vector3 }[] {
    const [x, y, z] = shape.size;
    const q = shape.orientation;
    const turn = new Quaternion(q[1], q[2], q[3], q[0]);
    const origin = new Vector3().fromArray(shape.position);
    const list: { body: number; point: Vector3 }[] = [];
    const add = (px: number, py: number, pz: number) => list.push({ body: shape.body, point: new Vector3(px, py, pz).applyQuaternion(turn).add(origin) });
    const addBox = (a: number, b: number, c: number) => {
      for (const i of [-1, 1]) for (const j of [-1, 1]) for (const k of [-1, 1]) add(i * a, j * b, k * c);
    };
    switch (shape.kind) {
      case Kind.Sphere:
        addBox(x, x, x);
        break;
      case Kind.Box:
      case Kind.BoxCavity:
      case Kind.Ellipsoid:
        addBox(x, y, z);
        break;
      case Kind.Cylinder:
      case Kind.CylinderCavity:
        addBox(x, x, z);
        break;
      case Kind.Capsule:
        addBox(x, x, x + z);
        break;
      case Kind.Hull:
        for (let i = 0; i < shape.points.length; i += 3) add(shape.points[i], shape.points[i + 1], shape.points[i + 2]);
        break;
      case Kind.Line:
      case Kind.ThinLine:
      case Kind.Actuator:
        list.push({ body: shape.body, point: origin }, { body: shape.end, point: this.endOn(shape) });
        break;
      case Kind.Plane:
      case Kind.Joint:
        list.push({ body: shape.body, point: origin });
        break;
      default:
        unknownKind(shape.kind);
    }
    return list;
  }

  /** Bounds of the model over the whole run; if parts fly away, bounds of those that stay near their start. */
  private findExtremes(bound?: { centre: Vector3; radius: number }): void {
    const scene = this.scene!;
    const count = bound?.radius === Infinity ? 1 : Math.max(1, this.frames?.count ?? 1);
    const shapes = scene.shapes.filter((shape) => shape.kind !== Kind.Plane);
    const samples = Math.max(2, Math.min(24, count, Math.floor(60000 / Math.max(1, shapes.length))));
    const stride = Math.max(1, Math.floor((count - 1) / (samples - 1)) || 1);
    this.extremes = [];
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    for (const shape of shapes) {
      const corners = shape.kind === Kind.Sphere && shapes.length > MANY ? [{ body: shape.body, point: new Vector3().fromArray(shape.position) }] : this.cornersOf(shape);
      for (const { body, point: corner } of corners) {
        const still = body < 0 || scene.bodies[body].motion === Motion.Fixed || !this.frames;
        for (let f = 0; f < (still ? 1 : count); f += stride) {
          const point = this.pointOn(body, corner, f, 0, new Vector3());
          if (Number.isNaN(point.x)) continue; // not there in this frame
          if (bound && bound.centre.distanceTo(point) > bound.radius) continue;
          low.min(point);
          high.max(point);
          this.extremes.push(point);
        }
      }
    }
    if (this.extremes.length === 0) {
      low.set(-1, -1, -1);
      high.set(1, 1, 1);
      this.extremes.push(low, high);
    }
    if (this.extremes.length > MANY) this.extremes = outermost(this.extremes);
    this.low.copy(low);
    this.high.copy(high);
    this.centre.copy(low).add(high).multiplyScalar(0.5);
    this.spread = Math.max(high.distanceTo(low), 1e-9);
  }

  private measureModel(apart: boolean): void {
    if (apart) {
      this.findExtremes({ centre: new Vector3(), radius: Infinity }); // at the start
      this.findExtremes({ centre: this.centre.clone(), radius: 2 * this.spread });
    } else this.findExtremes();
    this.size = this.spread;
    this.radius = 0.0065 * this.size;
    this.measureStrain();
  }

  private measureStrain(): void {
    this.strainHigh = 0;
    for (const value of this.frames?.strain ?? []) if (value > this.strainHigh) this.strainHigh = value;
  }

  /** After new frames: the camera moves back if the model leaves the view, unless the user has moved it. */
  grow(): void {
    this.findExtremes();
    this.measureStrain();
    this.scaleArrows();
    this.contacts?.measure();
    if (this.spread > 1.1 * this.seen && !this.moved) this.view(this.viewed);
    this.setTime(this.time);
  }

  private place(object: Object3D, shape: Shape): void {
    object.position.fromArray(shape.position);
    const q = shape.orientation;
    object.quaternion.set(q[1], q[2], q[3], q[0]);
  }

  /** The color of the subsystem, slightly lighter or darker than that of neighbors. */
  private shadeOf(body: number): string {
    const { subsystem } = this.scene!.bodies[body];
    const order = this.scene!.bodies.slice(0, body).filter((other) => other.subsystem === subsystem && other.name).length;
    return `#${new Color(colourOf(subsystem)).multiplyScalar([1, 0.8, 1.22][order % 3]).getHexString()}`;
  }

  private addSolid(shape: Shape, subsystem: number, parent: Group): void {
    const colour = shape.body >= 0 ? this.shadeOf(shape.body) : GROUND;
    const [x, y, z] = shape.size;
    const holder = new Group();
    this.place(holder, shape);
    parent.add(holder);
    const picked: Picked = { subsystem, body: shape.body, name: shape.name || (shape.body >= 0 ? this.scene!.bodies[shape.body].name : "ground") };
    const add = (geometry: BufferGeometry, made: Material, standing = false): Mesh => {
      const mesh = new Mesh(geometry, made);
      if (standing) mesh.rotation.x = Math.PI / 2; // three.js has its cylinders along y
      mesh.userData = { picked };
      holder.add(mesh);
      return mesh;
    };
    const outline = (geometry: BufferGeometry, parentMesh: Object3D, strength: number): void => {
      const lines = new LineSegments(new EdgesGeometry(geometry, 30), new LineBasicMaterial({ color: new Color(colour).multiplyScalar(0.6), transparent: true, opacity: strength }));
      parentMesh.add(lines);
    };
    switch (shape.kind) {
      case Kind.Sphere:
        add(new SphereGeometry(x, 32, 20), material(colour));
        break;
      case Kind.Ellipsoid:
        add(new SphereGeometry(1, 32, 20).scale(x, y, z), material(colour));
        break;
      case Kind.Box: {
        const geometry = new BoxGeometry(2 * x, 2 * y, 2 * z);
        outline(geometry, add(geometry, material(colour)), 0.5);
        break;
      }
      case Kind.Cylinder: {
        const geometry = new CylinderGeometry(x, x, 2 * z, 40);
        outline(geometry, add(geometry, material(colour), true), 0.5);
        break;
      }
      case Kind.Capsule:
        add(new CapsuleGeometry(x, 2 * z, 8, 24), material(colour), true);
        break;
      case Kind.Hull:
        this.addHull(shape, add, material(colour));
        break;
      case Kind.BoxCavity:
      case Kind.CylinderCavity:
        this.addCavity(shape, holder, colour, picked);
        break;
      case Kind.Plane: {
        const extent = 2 * this.size;
        const mesh = add(new PlaneGeometry(extent, extent), material(colour, { opacity: 0.05 }));
        mesh.userData = {};
        break;
      }
      case Kind.Joint: {
        const mesh = add(new SphereGeometry(1.35 * this.radius, 20, 14), material("#f4f5f6"));
        mesh.userData = { picked: { ...picked, name: shape.name || picked.name } };
        mesh.renderOrder = 1;
        if (shape.body < 0) {
          // A plate below it: fixed to the ground.
          const up = this.up.clone().applyQuaternion(holder.quaternion.clone().invert());
          const plate = add(new BoxGeometry(6 * this.radius, 0.7 * this.radius, 6 * this.radius), material(GROUND));
          plate.quaternion.setFromUnitVectors(UP_Y, up);
          plate.position.copy(up.multiplyScalar(-1.7 * this.radius));
          plate.userData = mesh.userData;
        }
        break;
      }
      case Kind.Line:
      case Kind.ThinLine:
      case Kind.Actuator:
        break; // drawn as instances, see addLines, addSprings and addActuators
      default:
        unknownKind(shape.kind);
    }
  }

  private addHull(shape: Shape, add: (geometry: BufferGeometry, made: Material) => Mesh, made: MeshLambertMaterial): void {
    const points: Vector3[] = [];
    for (let i = 0; i < shape.points.length; i += 3) points.push(new Vector3(shape.points[i], shape.points[i + 1], shape.points[i + 2]));
    made.side = DoubleSide;
    if (points.length > 3) {
      add(new ConvexGeometry(points), made);
      return;
    }
    const geometry = new BufferGeometry().setFromPoints(points);
    geometry.computeVertexNormals();
    made.transparent = true;
    made.opacity = 0.35;
    add(geometry, made);
  }

  /** Transparent walls; open walls are left out. */
  private addCavity(shape: Shape, holder: Group, colour: string, picked: Picked): void {
    const [x, y, z] = shape.size;
    const wall = material(colour, { opacity: 0.16 });
    this.containers.push(wall);
    const add = (geometry: BufferGeometry, move: (mesh: Mesh) => void) => {
      const mesh = new Mesh(geometry, wall);
      move(mesh);
      mesh.userData = { picked };
      mesh.renderOrder = 2;
      holder.add(mesh);
    };
    let frame: BufferGeometry;
    if (shape.kind === Kind.CylinderCavity) {
      if (!(shape.open & 1)) add(new CylinderGeometry(x, x, 2 * z, 48, 1, true), (mesh) => (mesh.rotation.x = Math.PI / 2));
      if (!(shape.open & 16)) add(new CircleGeometry(x, 48), (mesh) => (mesh.position.z = -z));
      if (!(shape.open & 32)) add(new CircleGeometry(x, 48), (mesh) => (mesh.position.z = z));
      frame = new EdgesGeometry(new CylinderGeometry(x, x, 2 * z, 48), 40);
      frame.rotateX(Math.PI / 2);
    } else {
      const walls: [number, number, number, number, number, number][] = [
        [1, -x, 0, 0, y, z],
        [2, x, 0, 0, y, z],
        [4, 0, -y, 0, x, z],
        [8, 0, y, 0, x, z],
        [16, 0, 0, -z, x, y],
        [32, 0, 0, z, x, y],
      ];
      for (const [bit, px, py, pz, u, w] of walls) {
        if (shape.open & bit) continue;
        const geometry = new PlaneGeometry(2 * u, 2 * w);
        if (bit <= 2) {
          geometry.rotateX(Math.PI / 2);
          geometry.rotateZ(Math.PI / 2);
        } else if (bit <= 8) geometry.rotateX(Math.PI / 2);
        add(geometry, (mesh) => mesh.position.set(px, py, pz));
      }
      frame = new EdgesGeometry(new BoxGeometry(2 * x, 2 * y, 2 * z));
    }
    holder.add(new LineSegments(frame, new LineBasicMaterial({ color: new Color(colour).multiplyScalar(0.7) })));
  }

  private instanced(geometry: BufferGeometry, count: number, made?: Material): InstancedMesh {
    const mesh = new InstancedMesh(geometry, made ?? new MeshLambertMaterial(), count);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    this.root.add(mesh);
    return mesh;
  }

  private addLines(lines: Slender[]): void {
    if (lines.length === 0) return;
    const mesh = this.instanced(new CylinderGeometry(1, 1, 1, 12, 1, true).translate(0, 0.5, 0), lines.length);
    lines.forEach((item, i) => mesh.setColorAt(i, new Color(colourOf(item.subsystem))));
    this.instances.push({ mesh, items: lines });

    // Round ends make one line of the pieces.
    for (const item of lines) {
      const s = item.shape;
      this.endItems.push({ body: s.body, point: new Vector3().fromArray(s.position), subsystem: item.subsystem, scale: 1 });
      this.endItems.push({ body: s.end, point: this.endOn(s), subsystem: item.subsystem, scale: 1 });
    }
    this.ends = this.instanced(new SphereGeometry(1, 12, 8), this.endItems.length);
    this.endItems.forEach((item, i) => this.ends!.setColorAt(i, new Color(colourOf(item.subsystem))));
  }

  /** The far end of a slender part, in the axes of its body. */
  private endOn(shape: Shape): Vector3 {
    if (shape.end !== shape.body) return new Vector3().fromArray(shape.size);
    const q = shape.orientation;
    return new Vector3().fromArray(shape.size).applyQuaternion(new Quaternion(q[1], q[2], q[3], q[0])).add(new Vector3().fromArray(shape.position));
  }

  private addSprings(springs: Slender[]): void {
    if (springs.length === 0) return;
    const mesh = this.instanced(springGeometry(9, 0.22), springs.length);
    springs.forEach((item, i) => mesh.setColorAt(i, new Color(colourOf(item.subsystem)).lerp(new Color("#808890"), 0.4)));
    this.instances.push({ mesh, items: springs });
  }

  private addActuators(): void {
    if (this.actuators.length === 0) return;
    const tube = () => new CylinderGeometry(1, 1, 1, 20).translate(0, 0.5, 0);
    this.barrels = this.instanced(tube(), this.actuators.length, material("#55606c"));
    this.rods = this.instanced(tube(), this.actuators.length, material("#c9ced3"));
    for (const item of this.actuators) {
      const [a, b] = this.endsOf(item.shape, 0, 0);
      item.length = a.distanceTo(b);
    }
  }

  private addParticles(subsystem: number, set: { bodies: number[]; radii: number[] }): void {
    const n = set.bodies.length;
    if (n >= IMPOSTORS_FROM) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * n), 3).setUsage(DynamicDrawUsage));
      geometry.setAttribute("radius", new BufferAttribute(new Float32Array(set.radii), 1));
      const points = new Points(geometry, impostorMaterial(colourOf(subsystem)));
      points.frustumCulled = false;
      this.root.add(points);
      this.particleSets.push({ subsystem, ...set, mesh: points });
      return;
    }
    const mesh = this.instanced(new IcosahedronGeometry(1, n < 1500 ? 3 : 2), n);
    this.particleSets.push({ subsystem, ...set, mesh });
    this.colourParticles();
  }

  /** Slightly different shades distinguish neighbors; the picked part is highlighted. */
  private colourParticles(): void {
    for (const set of this.particleSets) {
      if (!(set.mesh instanceof InstancedMesh)) continue;
      const base = new Color(colourOf(set.subsystem));
      for (let i = 0; i < set.bodies.length; i++) {
        const shade = 0.86 + 0.28 * ((i * 0.61803398875) % 1);
        const colour = set.bodies[i] === this.selected?.body ? PICKED : base.clone().multiplyScalar(shade);
        set.mesh.setColorAt(i, colour);
      }
      set.mesh.instanceColor!.needsUpdate = true;
    }
  }

  private addArrows(): void {
    const frames = this.frames;
    if (!frames || frames.wrenches === 0) return;
    const n = 2 * frames.wrenches;
    this.arrows = {
      shaft: this.instanced(new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), n, new MeshBasicMaterial()),
      head: this.instanced(new ConeGeometry(1, 1, 16).translate(0, 0.5, 0), n, new MeshBasicMaterial()),
    };
    for (let i = 0; i < n; i++) {
      const colour = new Color(i % 2 === 0 ? "#c8324a" : "#7d4fc4"); // force, torque
      this.arrows.shaft.setColorAt(i, colour);
      this.arrows.head.setColorAt(i, colour);
    }
    this.scaleArrows();
  }

  /** The longest arrow of the run is a fifth of the model, without rare peaks. Torques that are negligible relative to the forces have no arrow. */
  private scaleArrows(): void {
    const frames = this.frames;
    if (!frames) return;
    for (let what = 0; what < 2; what++) {
      const sizes: number[] = [];
      for (let f = 0; f < frames.count; f++)
        for (let k = 0; k < frames.wrenches; k++) {
          const at = (f * frames.wrenches + k) * 9 + 3 + 3 * what;
          sizes.push(Math.hypot(frames.wrench[at], frames.wrench[at + 1], frames.wrench[at + 2]));
        }
      sizes.sort((a, b) => a - b);
      const high = sizes[Math.floor(0.98 * (sizes.length - 1))] || 0;
      const nothing = what === 1 ? 1e-4 * this.size * this.arrowSize[0] : 0;
      this.arrowSize[what] = high > nothing ? high : 0;
      this.arrowScale[what] = high > nothing ? (0.2 * this.size) / high : 0;
    }
  }

  private addLights(): void {
    const key = new DirectionalLight(0xffffff, 1.9);
    key.position.copy(this.up).multiplyScalar(2).add(new Vector3(1.2, -1.6, 0.8));
    const sky = new HemisphereLight(0xffffff, 0x9aa3ad, 1.5);
    sky.position.copy(this.up);
    this.three.add(key, sky, new AmbientLight(0xffffff, 0.35));
  }

  private addGrid(): void {
    const cell = Math.pow(10, Math.floor(Math.log10(this.size)));
    const step = this.size / cell < 2 ? cell / 5 : this.size / cell < 5 ? cell / 2 : cell;
    const cells = 2 * Math.ceil(this.size / step);
    this.grid = new GridHelper(cells * step, cells, 0xffffff, 0xffffff);
    const grid = this.grid.material;
    grid.transparent = true;
    grid.opacity = 0.35;
    grid.depthWrite = false;
    grid.vertexColors = false; // one colour, and the shader of all other lines
    this.grid.quaternion.setFromUnitVectors(UP_Y, this.up);
    // Below the lowest point along up.
    const low = this.lowest();
    this.grid.position.copy(this.centre).addScaledVector(this.up, low - this.centre.dot(this.up));
    this.three.add(this.grid);
    this.setTheme(document.documentElement.dataset.theme === "dark");
  }

  /** The lowest point of the run along up, or the highest plane that lies below everything. */
  private lowest(): number {
    let low = Infinity;
    for (const point of this.extremes) low = Math.min(low, point.dot(this.up));
    let ground = -Infinity;
    for (const shape of this.scene!.shapes) {
      if (shape.kind !== Kind.Plane || shape.body >= 0) continue;
      const height = TEMP_V.fromArray(shape.position).dot(this.up);
      if (height <= low + 0.05 * this.size) ground = Math.max(ground, height);
    }
    return Number.isFinite(ground) ? ground : low - 0.02 * this.size;
  }

  // Moving --------------------------------------------------------------------------------------

  private frame = 0;
  private part = 0;
  private readonly scratchQ = [0, 0, 0, 1];
  private readonly scratchP = [0, 0, 0];

  private pointOn(body: number, point: Vector3, frame: number, part: number, out: Vector3): Vector3 {
    out.copy(point);
    if (body < 0) return out;
    const q = this.scratchQ;
    const p = this.scratchP;
    if (this.frames && this.frames.count > 0) {
      this.frames.readOrientation(body, frame, part, q);
      this.frames.readPosition(body, frame, part, p);
    } else {
      const { position, orientation } = this.scene!.bodies[body];
      [p[0], p[1], p[2]] = position;
      [q[3], q[0], q[1], q[2]] = orientation;
    }
    return out.applyQuaternion(TEMP_Q.set(q[0], q[1], q[2], q[3])).add(TEMP_V.set(p[0], p[1], p[2]));
  }

  private endsOf(shape: Shape, frame: number, part: number): [Vector3, Vector3] {
    const a = this.pointOn(shape.body, new Vector3().fromArray(shape.position), frame, part, new Vector3());
    return [a, this.pointOn(shape.end, this.endOn(shape), frame, part, new Vector3())];
  }

  setTime(t: number): void {
    this.time = t;
    this.dirty = true;
    const scene = this.scene;
    if (!scene) return;
    [this.frame, this.part] = this.frames ? this.frames.locate(t) : [0, 0];
    const { frame, part } = this;

    const origin = new Vector3();
    const one = new Vector3(1, 1, 1);
    for (const [body, group] of this.groups) {
      this.pointOn(body, origin.set(0, 0, 0), frame, part, origin);
      const q = this.scratchQ;
      group.visible = !Number.isNaN(origin.x);
      if (group.visible) group.matrix.compose(origin, TEMP_Q.set(q[0], q[1], q[2], q[3]), one);
    }
    this.moveSlender();
    this.moveParticles();
    this.moveArrows();
    if (this.contacts) this.contacts.visible = this.showContacts;
    this.contacts?.move(frame, part);
    this.moveMeasure();
    this.follow();
  }

  private stretch(mesh: InstancedMesh, i: number, a: Vector3, b: Vector3, radius: number): void {
    const along = TEMP_W.copy(b).sub(a);
    const length = along.length();
    if (length > 0) TEMP_Q.setFromUnitVectors(UP_Y, along.divideScalar(length));
    else TEMP_Q.identity();
    mesh.setMatrixAt(i, TEMP_M.compose(a, TEMP_Q, TEMP_S.set(radius, Math.max(length, 1e-12), radius)));
  }

  private moveSlender(): void {
    const { frame, part } = this;
    const colour = new Color();
    const base = new Color();
    for (const set of this.instances) {
      set.items.forEach((item, i) => {
        const [a, b] = this.endsOf(item.shape, frame, part);
        const spring = item.shape.kind === Kind.ThinLine;
        this.stretch(set.mesh, i, a, b, spring ? 1.7 * this.radius : this.radius);
        if (spring) return;
        const strain = this.strainOf(item.shape);
        base.set(colourOf(item.subsystem));
        if (this.isSelected(item)) base.set(PICKED);
        else if (this.showStrain && strain >= 0 && this.strainHigh > 0) strainColour(base, strain / this.strainHigh, base);
        set.mesh.setColorAt(i, colour.copy(base));
        if (this.ends && item.shape.kind === Kind.Line) {
          this.ends.setColorAt(2 * i, colour);
          this.ends.setColorAt(2 * i + 1, colour);
        }
      });
      set.mesh.instanceMatrix.needsUpdate = true;
      if (set.mesh.instanceColor) set.mesh.instanceColor.needsUpdate = true;
    }
    if (this.ends) {
      this.endItems.forEach((item, i) => {
        this.pointOn(item.body, item.point, frame, part, TEMP_W);
        this.ends!.setMatrixAt(i, TEMP_M.makeScale(this.radius, this.radius, this.radius).setPosition(TEMP_W));
      });
      this.ends.instanceMatrix.needsUpdate = true;
      if (this.ends.instanceColor) this.ends.instanceColor.needsUpdate = true;
    }
    this.actuators.forEach((item, i) => {
      const [a, b] = this.endsOf(item.shape, frame, part);
      const barrel = Math.min(0.62 * item.length, 0.95 * a.distanceTo(b));
      const joint = a.clone().lerp(b, barrel / Math.max(a.distanceTo(b), 1e-12));
      this.stretch(this.barrels!, i, a, joint, 1.5 * this.radius);
      this.stretch(this.rods!, i, joint, b, 0.75 * this.radius);
    });
    if (this.barrels && this.rods) {
      this.barrels.instanceMatrix.needsUpdate = true;
      this.rods.instanceMatrix.needsUpdate = true;
    }
  }

  private strainOf(shape: Shape): number {
    if (!this.frames || this.frames.strains === 0 || shape.body < 0 || shape.end < 0 || shape.body === shape.end) return -1;
    const a = this.frames.strainOf(shape.body, this.frame);
    const b = this.frames.strainOf(shape.end, this.frame);
    return Number.isNaN(a) || Number.isNaN(b) ? -1 : 0.5 * (a + b);
  }

  private moveParticles(): void {
    for (const set of this.particleSets) {
      if (set.mesh instanceof InstancedMesh) {
        set.bodies.forEach((body, i) => {
          this.frames?.readPosition(body, this.frame, this.part, this.scratchP);
          const there = !Number.isNaN(this.scratchP[0]);
          const r = there ? set.radii[i] : 0;
          if (!there) this.scratchP.fill(0);
          (set.mesh as InstancedMesh).setMatrixAt(i, TEMP_M.makeScale(r, r, r).setPosition(this.scratchP[0], this.scratchP[1], this.scratchP[2]));
        });
        set.mesh.instanceMatrix.needsUpdate = true;
      } else {
        const attribute = set.mesh.geometry.getAttribute("position") as BufferAttribute;
        const array = attribute.array as Float32Array;
        this.frames?.readParticles(set.bodies, this.frame, this.part, array);
        for (let i = 0; i < array.length; i++) if (Number.isNaN(array[i])) array[i] = FAR_AWAY;
        attribute.needsUpdate = true;
      }
    }
  }

  private moveArrows(): void {
    if (!this.arrows || !this.frames) return;
    const { shaft, head } = this.arrows;
    shaft.visible = head.visible = this.showArrows;
    const none = TEMP_M.makeScale(0, 0, 0).clone();
    for (let k = 0; k < this.frames.wrenches; k++) {
      const at = (this.frame * this.frames.wrenches + k) * 9;
      const w = this.frames.wrench;
      const origin = new Vector3(w[at], w[at + 1], w[at + 2]);
      for (let what = 0; what < 2; what++) {
        const i = 2 * k + what;
        const vector = new Vector3(w[at + 3 + 3 * what], w[at + 4 + 3 * what], w[at + 5 + 3 * what]).multiplyScalar(this.arrowScale[what]);
        let length = vector.length();
        const most = 0.3 * this.size;
        if (length > most) {
          vector.multiplyScalar(most / length);
          length = most;
        }
        const tip = 3.2 * this.radius;
        if (!(length > 0.6 * tip)) {
          shaft.setMatrixAt(i, none);
          head.setMatrixAt(i, none);
          continue;
        }
        const neck = origin.clone().addScaledVector(vector, Math.max(0, length - tip) / length);
        this.stretch(shaft, i, origin, neck, 0.45 * this.radius);
        this.stretch(head, i, neck, origin.clone().add(vector), 1.25 * this.radius);
      }
    }
    shaft.instanceMatrix.needsUpdate = true;
    head.instanceMatrix.needsUpdate = true;
  }

  // Camera --------------------------------------------------------------------------------------

  view(name: ViewName): void {
    this.viewed = name;
    this.moved = false;
    this.seen = this.spread;
    const direction = new Vector3();

    // With x to the right unless x is up, so that motion in the plane of x and up is seen from the front.
    const side = Math.abs(this.up.x) > 0.9 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0);
    const across = new Vector3().crossVectors(this.up, side).normalize();
    if (name === "iso") direction.copy(side).multiplyScalar(0.55).addScaledVector(across, -0.85).addScaledVector(this.up, 0.42);
    else direction.set(name === "x" ? 1 : 0, name === "y" ? (this.up.y > 0.5 ? 1 : -1) : 0, name === "z" ? 1 : 0);
    direction.normalize();
    this.camera.up.copy(this.up);
    if (Math.abs(direction.dot(this.up)) > 0.99) this.camera.up.copy(across);
    this.lookAlong(direction);
  }

  /** Fits the whole run into the view from the current direction. */
  fitAll(): void {
    this.lookAlong(this.camera.position.clone().sub(this.controls.target).normalize());
  }

  private lookAlong(direction: Vector3): void {
    const distance = this.fit(direction);
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).addScaledVector(direction, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  /** Distance of the camera along a direction from which the whole run is visible. */
  private fit(direction: Vector3): number {
    const right = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const above = new Vector3().crossVectors(direction, right);
    const tall = Math.tan(((this.camera.fov / 2) * Math.PI) / 180);
    const wide = tall * this.camera.aspect;
    let distance = 0.05 * this.size;
    for (const point of this.extremes) {
      const p = TEMP_W.copy(point).sub(this.centre);
      const needed = Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(above)) / tall);
      distance = Math.max(distance, p.dot(direction) + 1.12 * needed);
    }
    return distance;
  }

  /** Makes the camera follow a body; -1: none. */
  setFollowed(body: number): void {
    this.followed = body;
    if (body >= 0) this.pointOn(body, new Vector3(), this.frame, this.part, this.followedAt);
  }

  get isFollowing(): boolean {
    return this.followed >= 0;
  }

  private follow(): void {
    if (this.followed < 0) return;
    const now = this.pointOn(this.followed, new Vector3(), this.frame, this.part, new Vector3());
    const move = now.clone().sub(this.followedAt);
    this.camera.position.add(move);
    this.controls.target.add(move);
    this.followedAt.copy(now);
    this.controls.update();
  }

  setTheme(dark: boolean): void {
    this.three.background = new Color(dark ? "#14181d" : "#f3f5f7");
    if (this.grid) this.grid.material.color.set(dark ? "#3a424c" : "#c2c9d1");
    this.dirty = true;
  }

  /** Cuts the model across an axis, at a fraction of its extent along the axis; 0.5 is the middle. */
  setSection(axis: "off" | "x" | "y" | "z", part = 0.5): void {
    this.section = null;
    if (axis !== "off") {
      const normal = new Vector3(axis === "x" ? -1 : 0, axis === "y" ? 1 : 0, axis === "z" ? -1 : 0);
      if (axis === "y" && this.up.y > 0.5) normal.negate(); // what is seen from the side of the view is cut away
      const point = this.low.clone().lerp(this.high, part);
      this.section = new Plane().setFromNormalAndCoplanarPoint(normal, point);
    }
    const planes = this.section ? [this.section] : [];
    this.root.traverse((object) => {
      if (!((object instanceof Mesh || object instanceof Points || object instanceof LineSegments) && object.material instanceof Material)) return;
      object.material.clippingPlanes = planes;
      if (object instanceof Mesh && !this.containers.includes(object.material as MeshLambertMaterial)) object.material.side = planes.length ? DoubleSide : object.material.side;
    });
    this.dirty = true;
  }

  // Picking and measuring -----------------------------------------------------------------------

  private hit(event: PointerEvent): { picked: Picked; point: Vector3 } | null {
    // Parts may have moved since the last picture; three.js caches the bounds of instances and points at their first use.
    this.camera.updateMatrixWorld();
    this.root.updateMatrixWorld(true);
    this.root.traverse((object) => {
      if (object instanceof InstancedMesh) object.computeBoundingSphere();
      if (object instanceof Points) object.geometry.computeBoundingSphere();
    });

    const box = this.element.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    ray.params.Points = { threshold: this.radius };
    const hits = ray.intersectObjects(this.root.children, true).filter((hit) => !this.section || this.section.distanceToPoint(hit.point) >= 0);
    // Parts inside of a container are picked before its wall.
    hits.sort((a, b) => Number(this.isWall(a.object)) - Number(this.isWall(b.object)) || a.distance - b.distance);
    for (const hit of hits) {
      const picked = this.pickedOf(hit.object, hit.instanceId ?? hit.index ?? -1);
      if (picked) return { picked, point: hit.point };
    }
    return null;
  }

  private isWall(object: Object3D): boolean {
    return object instanceof Mesh && this.containers.includes(object.material as MeshLambertMaterial);
  }

  private pickedOf(object: Object3D, instance: number): Picked | null {
    if (object.userData.picked) return object.userData.picked as Picked;
    const bodies = this.scene!.bodies;
    const slender = (item: Slender): Picked => {
      const body = item.shape.body >= 0 ? item.shape.body : item.shape.end;
      return { subsystem: item.subsystem, body, name: item.shape.name || (body >= 0 ? bodies[body].name : "") };
    };
    for (const set of this.instances) if (set.mesh === object && set.items[instance]) return slender(set.items[instance]);
    if (object === this.barrels || object === this.rods) return slender(this.actuators[instance]);
    if (object === this.ends) {
      const item = this.instances[0]?.items[instance >> 1];
      return item ? slender(item) : null;
    }
    for (const set of this.particleSets)
      if (set.mesh === object) {
        const body = set.bodies[instance];
        return { subsystem: bodies[body].subsystem, body, name: `particle ${instance + 1}` };
      }
    return null;
  }

  private click(event: PointerEvent): void {
    const hit = this.hit(event);
    if (this.measuring) {
      if (!hit) return;
      const local = hit.point.clone();
      const body = hit.picked.body;
      if (body >= 0) {
        const inverse = new Matrix4();
        const p = this.pointOn(body, new Vector3(), this.frame, this.part, new Vector3());
        this.frames?.readOrientation(body, this.frame, this.part, this.scratchQ);
        const q = this.scratchQ;
        inverse.compose(p, new Quaternion(q[0], q[1], q[2], q[3]), new Vector3(1, 1, 1)).invert();
        local.applyMatrix4(inverse);
      }
      if (this.measuring.length === 2) this.measuring = [];
      this.measuring.push({ body, local });
      this.moveMeasure();
      return;
    }
    this.select(hit ? hit.picked : null);
    this.onPick(hit ? hit.picked : null);
  }

  /** Clicks select two points; their distance is shown. */
  setMeasuring(on: boolean): void {
    this.measuring = on ? [] : null;
    if (!on && this.measureLine) this.measureLine.visible = false;
    this.onMeasure(on ? "click two points" : "");
    this.dirty = true;
  }

  private moveMeasure(): void {
    if (!this.measuring || this.measuring.length < 2) {
      if (this.measureLine) this.measureLine.visible = false;
      if (this.measuring) this.onMeasure(this.measuring.length === 1 ? "click a second point" : "click two points");
      return;
    }
    const [a, b] = this.measuring.map((end) => this.pointOn(end.body, end.local, this.frame, this.part, new Vector3()));
    if (!this.measureLine) {
      this.measureLine = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: "#e0562b", depthTest: false }));
      this.measureLine.renderOrder = 9;
      this.measureLine.frustumCulled = false;
      this.three.add(this.measureLine);
    }
    this.measureLine.geometry.setFromPoints([a, b]);
    this.measureLine.visible = true;
    const d = b.clone().sub(a);
    this.onMeasure(`${d.length().toPrecision(4)} m   (${d.toArray().map((v) => v.toPrecision(3)).join(", ")})`);
    this.dirty = true;
  }

  private isSelected(item: Slender): boolean {
    const s = this.selected;
    if (!s) return false;
    return s.subsystem === item.subsystem && s.name !== "" && (item.shape.name ? item.shape.name === s.name : item.shape.body === s.body);
  }

  select(picked: Picked | null): void {
    this.selected = picked;
    this.root.traverse((object) => {
      const own = object.userData.picked as Picked | undefined;
      if (!own || !(object instanceof Mesh) || !(object.material instanceof MeshLambertMaterial)) return;
      const on = picked !== null && own.subsystem === picked.subsystem && own.body === picked.body && own.name === picked.name;
      object.material.userData.colour ??= object.material.color.clone(); // walls share theirs
      object.material.color.copy(on ? PICKED : object.material.userData.colour);
    });
    this.colourParticles();
    this.setTime(this.time);
  }

  // Drawing -------------------------------------------------------------------------------------

  resize(): void {
    const box = this.element.parentElement!.getBoundingClientRect();
    this.setSize(Math.max(1, Math.floor(box.width)), Math.max(1, Math.floor(box.height)));
  }

  private setSize(width: number, height: number): void {
    // Browsers also report sizes that have not changed.
    const pixels = [width, height, this.renderer.getPixelRatio()].join();
    if (pixels === this.pixels) return;
    this.pixels = pixels;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    const scale = (this.renderer.getPixelRatio() * height) / Math.tan(((this.camera.fov / 2) * Math.PI) / 180);
    for (const set of this.particleSets) if (set.mesh instanceof Points) (set.mesh.material as ShaderMaterial).uniforms.scale.value = scale;
    this.dirty = true;
  }

  /** A picture of the whole model at the current time, of this size in pixels, as a data URL in PNG; edges are smooth. */
  picture(width: number, height: number): string {
    const ratio = this.renderer.getPixelRatio();
    this.renderer.setPixelRatio(3);
    this.setSize(width, height);
    this.view(this.viewed);
    this.renderer.render(this.three, this.camera);
    const small = document.createElement("canvas");
    small.width = width;
    small.height = height;
    const paper = small.getContext("2d")!;
    paper.imageSmoothingQuality = "high";
    paper.drawImage(this.element, 0, 0, width, height);
    this.setRatio(ratio);
    return small.toDataURL("image/png");
  }

  /** Draws the model as it is seen now on another canvas. */
  paint(canvas: HTMLCanvasElement): void {
    this.renderer.render(this.three, this.camera);
    canvas.getContext("2d")!.drawImage(this.element, 0, 0, canvas.width, canvas.height);
    this.dirty = true;
  }

  /** Size of the canvas in pixels. */
  get canvasSize(): [number, number] {
    return [this.element.width, this.element.height];
  }

  /** Compiles all shaders in the background if the browser can; otherwise the first picture waits for the shaders that it needs. */
  async compile(): Promise<void> {
    if (this.renderer.extensions.has("KHR_parallel_shader_compile")) await this.renderer.compileAsync(this.three, this.camera);
  }

  close(): void {
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  draw(): void {
    const now = performance.now();
    const few = (this.scene?.bodies.length ?? 0) <= BODIES_SMOOTH;
    const smooths = !this.screen.fast && few && this.smoothed !== this.drawn && now > this.drawn + REST;
    if (!this.dirty && !smooths) return;

    // Without a graphics processor: fast drawing during motion, four samples per pixel at rest.
    if (!this.screen.fast && smooths !== this.renderer.getPixelRatio() > 1) this.setRatio(smooths ? 2 : 1);
    this.dirty = false;
    this.renderer.render(this.three, this.camera);
    this.onTurn();
    if (!smooths) this.drawn = now;
    this.smoothed = smooths ? this.drawn : -1;
  }

  private setRatio(ratio: number): void {
    this.renderer.setPixelRatio(ratio);
    this.resize();
  }

  /** Directions of the axes x, y and z in the view: to the right, up, and towards the eye. */
  get axes(): number[][] {
    const turn = this.camera.quaternion.clone().invert();
    return [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].map((axis) => axis.applyQuaternion(turn).toArray());
  }

  /** Interfaces with arrows, in the order of the wrenches. */
  get hasArrows(): boolean {
    return this.scene !== null && this.scene.connections.some((link) => link.kind === LinkKind.Markers);
  }

  /** Force (N) and torque (N m) of the longest arrows; 0: it has none. */
  get arrowSizes(): number[] {
    return this.arrowSize;
  }

  get hasStrain(): boolean {
    return (this.frames?.strains ?? 0) > 0 && this.strainHigh > 0;
  }

  get highestStrain(): number {
    return this.strainHigh;
  }

  /** Contact forces, if the run has recorded them. */
  get contactForces(): ContactForces | null {
    return this.contacts?.any ? this.contacts : null;
  }

  get hasContainers(): boolean {
    return this.containers.length > 0;
  }

  /** The part of the view that the model covers, for tests: left, top, right and bottom as fractions. */
  get bounds(): [number, number, number, number] {
    const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const shape of this.scene?.shapes ?? []) {
      if (shape.kind === Kind.Plane) continue;
      const own = this.cornersOf(shape).map(({ body, point }) => this.pointOn(body, point, this.frame, this.part, new Vector3()));
      for (const point of isSlender(shape.kind) ? this.endsOf(shape, this.frame, this.part) : own) {
        point.project(this.camera);
        const [x, y] = [(point.x + 1) / 2, (1 - point.y) / 2];
        box[0] = Math.min(box[0], x);
        box[1] = Math.min(box[1], y);
        box[2] = Math.max(box[2], x);
        box[3] = Math.max(box[3], y);
      }
    }
    return box;
  }

  /** Position of a named body on the screen, for tests. */
  project(body: number): [number, number] {
    const p = this.pointOn(body, new Vector3(), this.frame, this.part, new Vector3()).project(this.camera);
    const box = this.element.getBoundingClientRect();
    return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
  }
}

const TEMP_Q = new Quaternion();
const TEMP_V = new Vector3();
const TEMP_W = new Vector3();
const TEMP_S = new Vector3();
const TEMP_M = new Matrix4();
