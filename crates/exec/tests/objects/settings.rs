//! Runs with many settings, and all objects of each.

use exec::kubernetes::names::{self, Part};
use exec::kubernetes::objects::{Outline, Pool, model_map, pool_job, pool_service, reader_pod};
use exec::kubernetes::{Page, Request, Volume};
use serde_json::Value;
use spec::{Action, Kubernetes, Serve, Storage};

/// A run and what it is given.
pub(crate) struct Setting {
    /// The name of its snapshot.
    pub(crate) name: &'static str,
    run: String,
    task: String,
    on: &'static str,
    /// The id of the driver's Job, where it is there.
    owner: Option<&'static str>,
    /// What each process needs, in bytes.
    memory: u64,
    /// How its model is served, if it is.
    serve: Option<&'static str>,
}

/// Nothing is said.
const PLAIN: &str = "{}";

/// Everything is said that has a word of its own.
const NAMED: &str = "
  image: registry.example/trainyard:5
  service_account: robot
  storage: { pvc: { size: 30Gi, class: fast, keep: false } }
  driver: { node_selector: { disktype: ssd }, requests: { cpu: 100m, memory: 300Mi }, port: 7171 }
  workers:
    node_selector: [{ disktype: worker-1 }, { kubernetes.io/hostname: b, zone: c }]
    limits: { cpu: 200m, memory: 125Mi, nvidia.com/gpu: 1 }
    port: 7171
  servers: { node_selector: { disktype: ps }, requests: { cpu: 1 }, port: 8080 }
";

/// Something is merged into pods that is known by what it is called, and something that is not.
const MERGED: &str = "
  storage: pvc
  pod:
    metadata:
      labels: { team: vision }
      annotations: { example.org/cost: '7' }
    spec:
      priorityClassName: low
      imagePullSecrets: [{ name: pull }]
      securityContext: { runAsUser: 1000 }
      tolerations: [{ key: dedicated, operator: Exists }]
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: 1Gi } }
        - { name: more, emptyDir: {} }
      containers:
        - env: [{ name: HTTPS_PROXY, value: 'http://proxy.example:3128' }]
          volumeMounts:
            - { name: more, mountPath: /more/a, subPath: a }
            - { name: more, mountPath: /more/b, subPath: b }
        - name: beside
          image: registry.example/beside:1
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
";

/// Only what belongs into the spec is merged, and the volume is one that is there.
const SPEC: &str = "
  storage: { claim: shared }
  pod: { priorityClassName: low, containers: [{ volumeMounts: [{ name: tmp, mountPath: /var/tmp }] }] }
";

/// The page is open to others, and its pods are given something.
const OPEN: &str = "
  storage: pvc
  service: LoadBalancer
  serve: { node_selector: { pool: web }, limits: { memory: 1Gi }, port: 9090 }
";

/// All of them.
pub(crate) fn all() -> Vec<Setting> {
    let of = |name, on| {
        let (run, task) = ("mnist-1".to_owned(), "train".to_owned());
        Setting { name, run, task, on, owner: None, memory: 0, serve: None }
    };
    let owner = Some("5f0c3f6c-0000-4000-8000-000000000001");
    // The longest names that runs and steps can have.
    let (run, task) = (format!("{}-1000", "r".repeat(40)), "t".repeat(40));
    vec![
        of("plain", PLAIN),
        Setting { owner, memory: (300 << 20) + 1, ..of("named", NAMED) },
        Setting { owner, memory: 1, ..of("merged", MERGED) },
        Setting { run, task, ..of("long", SPEC) },
        Setting { owner, serve: Some("{}"), ..of("served", PLAIN) },
        Setting {
            serve: Some(
                "{port: 80, gallery: /runs/inputs/7/people, combine: mean, batch: 8, wait: 5ms}",
            ),
            ..of("served-open", OPEN)
        },
    ]
}

/// How a run file serves.
fn serve(text: &str) -> Serve {
    let file = format!("name: mnist\ndata: mnist-sample\nmodel: mnist-mlp\nserve: {text}\n");
    let steps = spec::parse(&file, "run.yaml", &[]).unwrap().steps;
    let Action::Serve(serve) = &steps.last().unwrap().action else { panic!("it serves last") };
    serve.clone()
}

/// What a run file gives its run on a cluster.
fn given(on: &str) -> Kubernetes {
    let file =
        format!("name: mnist\ndata: mnist-sample\nmodel: mnist-mlp\non:\n kubernetes: {on}\n");
    spec::parse(&file, "run.yaml", &[]).unwrap().on.kubernetes.unwrap()
}

impl Setting {
    /// The page that the run ends with.
    pub(crate) fn page(&self) -> Option<Page> {
        let serving = plan::Serving {
            id: "serve".into(),
            needs: vec![self.task.clone()],
            serve: serve(self.serve?),
            model: self.task.clone(),
        };
        Some(Page { serving, token: "0".repeat(32), weights: 444_000 })
    }

    /// Every object that the run makes, from its begin to its end.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let given = given(self.on);
        let image = given.image.clone().unwrap_or_else(|| "trainyard:0".into());
        let (volume, claimed) = match &given.storage {
            Storage::Auto | Storage::None => (Volume::None, None),
            Storage::Claim(name) => (Volume::Named(name.clone()), Some(name.as_str())),
            Storage::Pvc(wanted) => (Volume::New(wanted.clone()), Some(self.run.as_str())),
        };
        let outline = Outline {
            run: &self.run,
            namespace: "ml",
            image: &image,
            given: &given,
            owner: self.owner,
        };
        let request = Request { page: self.page(), ..request(&given, &image, self.memory) };
        let mut objects = request.objects(&outline, &volume);
        if let (Some(page), Volume::None) = (&request.page, &volume) {
            let files = [("model.safetensors".to_owned(), b"model".to_vec())].into();
            objects.push(model_map(&outline, &page.name(&self.run), &files));
        }
        for pool in self.pools() {
            objects.extend([pool_service(&outline, &pool), pool_job(&outline, &pool, 3)]);
        }
        objects.push(reader_pod(&outline, claimed.unwrap_or(&self.run)));
        objects
    }

    /// Workers that all are alike, those of the second place, and servers.
    fn pools(&self) -> Vec<Pool> {
        let pool = |part, place| Pool {
            name: names::pool(&self.run, &self.task, part, place),
            task: self.task.clone(),
            part,
            place,
            memory: self.memory,
        };
        vec![pool(Part::Worker, None), pool(Part::Worker, Some(1)), pool(Part::Server, None)]
    }
}

fn request(given: &Kubernetes, image: &str, memory: u64) -> Request {
    Request {
        name: "mnist".into(),
        file: "name: mnist\n".into(),
        secret: "0".repeat(64),
        image: image.into(),
        given: given.clone(),
        memory,
        page: None,
    }
}
