//! Places a problem's set in the plane, and computes its boundary there.

use extremal::kernel::{dot, norm};
use extremal::set::{Atom, Oracle, Set, SetSpec, SharedSet};
use serde_json::Value;

/// The precision of a curved boundary, as a share of the diameter. A circle gets about 160 points.
const CURVED: f64 = 1e-4;

/// The precision of a polytope's boundary. It allows for rounding errors only.
const FLAT: f64 = 1e-9;

/// The largest number of points of a boundary.
const MOST: usize = 2_000;

/// A set to draw in the plane, and the coordinates of the drawing. The set is either a set in two
/// dimensions, or a set in three dimensions that lies in a plane.
pub(super) struct Plane {
    pub set: SharedSet,
    /// The set's spec, with a note if the set lies in a plane of ℝ³.
    pub name: String,
    /// The point that is drawn at (0, 0).
    origin: Vec<f64>,
    /// The directions that are drawn to the right and upwards. They are orthonormal.
    axes: [Vec<f64>; 2],
}

impl Plane {
    /// The set of a spec in two dimensions, or in a plane of three dimensions. `None` if the spec
    /// allows neither.
    pub(super) fn of(spec: &SetSpec) -> Option<Self> {
        [2, 3].into_iter().find_map(|dim| {
            let spec = in_dimension(spec, dim)?;
            let set = spec.build(None).ok()?;
            match set.dim() {
                2 => Self::whole(set, &spec),
                3 => Self::slice(set, &spec),
                _ => None,
            }
        })
    }

    /// Draws a set of ℝ² in its own coordinates. `None` if the set lies on a line.
    fn whole(set: SharedSet, spec: &SetSpec) -> Option<Self> {
        let plane = Self {
            name: spec.to_string(),
            origin: vec![0.0; 2],
            axes: [vec![1.0, 0.0], vec![0.0, 1.0]],
            set,
        };
        let mut support = Support::new(&*plane.set);
        let thin = FLAT * plane.set.geometry().diameter;
        for k in 0..180 {
            let (up, right) = (f64::from(k) * std::f64::consts::PI / 180.0).sin_cos();
            let direction = [right, up];
            let [to, fro] = [
                support.farthest(&direction)?,
                support.farthest(&[-right, -up])?,
            ];
            if dot(&direction, &to) - dot(&direction, &fro) <= thin {
                return None;
            }
        }
        Some(plane)
    }

    /// Finds the plane that contains a set of ℝ³. In the picture, the third axis points upwards, and the
    /// second axis points further to the right than the first. `None` if the set lies in no plane, or on
    /// a line.
    fn slice(set: SharedSet, spec: &SetSpec) -> Option<Self> {
        let mut support = Support::new(&*set);
        let directions = 400;
        let points = (0..directions)
            .map(|k| {
                // The directions are spread evenly over the sphere. From each direction to the next, the
                // height changes by the same step, and the angle by the golden angle.
                let height = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(directions);
                let radius = (1.0 - height * height).sqrt();
                let turn = f64::from(k) * 2.399_963_229_728_653;
                support.farthest(&[radius * turn.cos(), radius * turn.sin(), height])
            })
            .collect::<Option<Vec<_>>>()?;
        let from = |k: usize| minus(&points[k], &points[0]);
        let longest = (0..points.len()).max_by(|a, b| norm(&from(*a)).total_cmp(&norm(&from(*b))));
        let side = from(longest?);
        let mut normal = [0.0; 3];
        for k in 0..points.len() {
            let candidate = cross(&side, &from(k));
            if norm(&candidate) > norm(&normal) {
                normal = candidate;
            }
        }
        let thin = FLAT * norm(&side);
        let size = norm(&normal);
        if !(size > thin * norm(&side)) {
            return None; // The set is a line or a point.
        }
        normal.iter_mut().for_each(|v| *v /= size);
        if (0..points.len()).any(|k| dot(&normal, &from(k)).abs() > thin) {
            return None; // The set has a volume.
        }
        // The last coordinate direction that is not perpendicular to the plane, projected onto the
        // plane.
        let up = (0..3).rev().find_map(|axis| {
            let mut up: Vec<f64> = normal.iter().map(|n| -normal[axis] * n).collect();
            up[axis] += 1.0;
            let size = norm(&up);
            up.iter_mut().for_each(|v| *v /= size);
            (size > 0.1).then_some(up)
        })?;
        let mut right = cross(&up, &normal).to_vec();
        let leans = right[1] - right[0];
        if leans < 0.0 || (leans == 0.0 && right[0] < 0.0) {
            right.iter_mut().for_each(|v| *v = -*v);
        }
        let mut origin = vec![0.0; 3];
        set.centre(&mut origin);
        Some(Self {
            name: format!("{spec}, in its plane"),
            set,
            origin,
            axes: [right, up],
        })
    }

    /// The coordinates of a point in the picture.
    pub(super) fn point(&self, x: &[f64]) -> [f64; 2] {
        self.direction(&minus(x, &self.origin))
    }

    /// The coordinates of a direction's projection onto the plane.
    pub(super) fn direction(&self, d: &[f64]) -> [f64; 2] {
        [dot(&self.axes[0], d), dot(&self.axes[1], d)]
    }

    /// The points of the boundary, anticlockwise. For a polytope, these are its vertices. For other sets,
    /// straight lines between the points are indistinguishable from the boundary.
    pub(super) fn outline(&self) -> Option<Vec<[f64; 2]>> {
        let precision = match self.set.polytope() {
            Some(_) => FLAT,
            None => CURVED,
        };
        let mut edge = Edge {
            plane: self,
            support: Support::new(&*self.set),
            near: precision * self.set.geometry().diameter,
            points: Vec::new(),
        };
        let compass = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
        let mut corners = Vec::new();
        for direction in compass {
            let corner = edge.farthest(direction)?;
            if corners.last() != Some(&corner) {
                corners.push(corner);
            }
        }
        for (k, &corner) in corners.iter().enumerate() {
            edge.push(corner);
            edge.refine(corner, corners[(k + 1) % corners.len()])?;
        }
        let mut points = edge.points;
        let near = |a: &[f64; 2], b: &[f64; 2]| norm(&minus(a, b)) <= edge.near * 1e-3;
        if points.len() > 1 && near(&points[0], &points[points.len() - 1]) {
            points.pop();
        }
        Some(points)
    }
}

/// The points of a boundary found so far.
struct Edge<'a> {
    plane: &'a Plane,
    support: Support,
    /// The largest allowed distance between the boundary and a straight line that replaces it.
    near: f64,
    points: Vec<[f64; 2]>,
}

impl Edge<'_> {
    fn farthest(&mut self, direction: [f64; 2]) -> Option<[f64; 2]> {
        let [right, up] = &self.plane.axes;
        let lifted: Vec<f64> = right
            .iter()
            .zip(up)
            .map(|(r, u)| direction[0] * r + direction[1] * u)
            .collect();
        Some(self.plane.point(&self.support.farthest(&lifted)?))
    }

    fn push(&mut self, point: [f64; 2]) {
        let near = self.near * 1e-3;
        let known = |last: &[f64; 2]| norm(&minus(last, &point)) <= near;
        if !self.points.last().is_some_and(known) {
            self.points.push(point);
        }
    }

    /// Adds the points of the boundary that lie between the boundary points a and b.
    fn refine(&mut self, a: [f64; 2], b: [f64; 2]) -> Option<()> {
        let length = norm(&minus(&b, &a));
        if length <= self.near || self.points.len() >= MOST {
            return Some(());
        }
        let outwards = [(b[1] - a[1]) / length, (a[0] - b[0]) / length];
        let c = self.farthest(outwards)?;
        if dot(&outwards, &minus(&c, &a)) > self.near {
            self.refine(a, c)?;
            self.push(c);
            self.refine(c, b)?;
        }
        Some(())
    }
}

/// Computes the farthest point of a set in a direction.
struct Support {
    oracle: Box<dyn Oracle>,
    atom: Atom,
    dim: usize,
}

impl Support {
    fn new(set: &dyn Set) -> Self {
        Self {
            oracle: set.oracle(),
            atom: Atom::new(),
            dim: set.dim(),
        }
    }

    fn farthest(&mut self, direction: &[f64]) -> Option<Vec<f64>> {
        let back: Vec<f64> = direction.iter().map(|v| -v).collect();
        self.oracle.minimise(&back, &mut self.atom).ok()?;
        let mut point = vec![0.0; self.dim];
        self.atom.write(&mut point);
        Some(point)
    }
}

/// The spec in another dimension. Products keep their dimensions, because it is unclear how their
/// factors would share the new dimension.
fn in_dimension(spec: &SetSpec, dim: usize) -> Option<SetSpec> {
    let mut table = serde_json::to_value(spec).ok()?;
    put_dimension(&mut table, dim);
    serde_json::from_value(table).ok()
}

fn put_dimension(spec: &mut Value, dim: usize) {
    let Some(table) = spec.as_object_mut() else {
        return;
    };
    let name = table.get("name").and_then(Value::as_str);
    let entry = SetSpec::ENTRIES.iter().find(|e| Some(e.name) == name);
    if name == Some("product") {
        return;
    }
    if entry.is_some_and(|e| e.parameters.iter().any(|p| p.name == "dim")) {
        table.insert("dim".into(), dim.into());
    }
    match table.get_mut("sets") {
        Some(Value::Array(parts)) => parts.iter_mut().for_each(|set| put_dimension(set, dim)),
        _ => {
            if let Some(part) = table.get_mut("set") {
                put_dimension(part, dim);
            }
        }
    }
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn cross(a: &[f64], b: &[f64]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
