//! Runs on Kubernetes as far as they go without one: their objects are printed, and what is missing is
//! told.

mod yard;

use yard::{SMALL, Yard};

const IMAGE: &str = "registry.example/trainyard:0";

/// A yard without a cluster.
fn yard() -> Yard {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard
}

/// Runs to failure where there is no kubeconfig, and gives standard error.
fn fails_without_a_cluster(yard: &Yard, arguments: &[&str]) -> String {
    let mut command = yard.command(arguments);
    command.env("KUBECONFIG", yard.path("absent")).env("HOME", yard.path("home"));
    let output = command.output().expect("the binary starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed data although it failed");
    error
}

fn render(yard: &Yard, further: &[&str]) -> String {
    yard.ok(&[&["render", "small.yaml", "--image", IMAGE], further].concat())
}

/// The kinds of objects, in order.
fn kinds(objects: &str) -> Vec<&str> {
    objects.lines().filter_map(|line| line.strip_prefix("kind: ")).collect()
}

/// Without the run's secret, which is another one each time.
fn without_secret(objects: &str) -> String {
    let is_secret = |line: &&str| line.trim_start().starts_with("join.json: ");
    assert_eq!(objects.lines().filter(is_secret).count(), 1);
    objects.lines().filter(|line| !is_secret(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn render_prints_every_object_the_drivers_job_last() {
    let yard = yard();
    let objects = render(&yard, &["--namespace", "ml"]);
    let all = [
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Secret",
        "Service",
        "NetworkPolicy",
        "Job",
    ];
    assert_eq!(kinds(&objects), all);
    let documents: Vec<&str> = objects.split("---\n").skip(1).collect();
    assert_eq!(documents.len(), all.len());
    for document in documents {
        for line in ["apiVersion: ", "\n  name: small-1", "\n  namespace: ml\n"] {
            assert!(document.contains(line), "{document}");
        }
    }
    assert!(objects.contains(&format!("image: {IMAGE}")), "{objects}");
    assert!(!yard.path("runs").exists(), "nothing is run");
}

#[test]
fn a_page_is_made_with_the_run_and_shown_at_its_end() {
    let yard = yard();
    yard.file("small.yaml", format!("{SMALL}serve: {{ port: 80 }}\n"));
    let objects = render(&yard, &["--set", "on.kubernetes={storage: pvc, service: NodePort}"]);
    let page = |object: &&str| object.contains("\n  name: small-1-serve\n");
    let page: Vec<&str> = objects.split("---\n").filter(page).collect();
    let found: Vec<&str> = page.iter().flat_map(|object| kinds(object)).collect();
    assert_eq!(found, ["Secret", "Service", "NetworkPolicy", "Deployment"]);
    assert!(page[1].contains("type: NodePort") && page[1].contains("port: 80\n"), "{}", page[1]);
    assert!(page[3].contains("replicas: 0") && page[3].contains("/runs/small-1/models/train"));
    assert!(page[3].contains("readOnly: true") && page[3].contains("claimName: small-1"));
    assert!(objects.contains("- deployments") && !objects.contains("- configmaps"));

    let bare = render(&yard, &[]);
    assert!(
        bare.contains("- configmaps"),
        "without a volume the driver makes a ConfigMap of the model"
    );
    let without = render(&yard, &["--set", "serve=null"]);
    assert!(!without.contains("Deployment") && !without.contains("- deployments"), "{without}");
    // The driver makes of the file what was made here.
    let file = objects.split("run.yaml: ").nth(1).expect("the file is carried");
    assert!(file.contains("serve:") && file.contains("port: 80"), "{file}");
}

#[test]
fn a_page_that_could_not_be_shown_without_a_volume_is_refused() {
    let yard = yard();
    let large = SMALL.replace("mnist-mlp", "{ name: mnist-mlp, hidden_units: 1000 }");
    yard.file("small.yaml", format!("{large}serve: {{}}\n"));
    let error = yard.fails(2, &["render", "small.yaml", "--image", IMAGE]);
    for part in ["3.0 MiB", "1 MiB", "on.kubernetes.storage: pvc", "--no-serve"] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    render(&yard, &["--set", "on.kubernetes.storage=pvc"]);
}

#[test]
fn render_is_the_same_each_time_but_for_the_secret() {
    let yard = yard();
    let (one, other) = (render(&yard, &[]), render(&yard, &[]));
    assert_ne!(one, other, "every run has a secret of its own");
    assert_eq!(without_secret(&one), without_secret(&other));
}

#[test]
fn render_follows_the_file() {
    let yard = yard();
    let volume = render(&yard, &["--set", "on.kubernetes.storage.pvc.size=30Gi"]);
    assert!(kinds(&volume).contains(&"PersistentVolumeClaim"), "{volume}");
    assert!(volume.contains("storage: 30Gi") && volume.contains("claimName: small-1"), "{volume}");
    let account = render(&yard, &["--set", "on.kubernetes.service_account=robot"]);
    assert_eq!(kinds(&account)[0], "ConfigMap", "no account is made, and no Role either");
    assert!(account.contains("serviceAccountName: robot"), "{account}");
    let set = format!("on.kubernetes.image={IMAGE}");
    let named = yard.ok(&["render", "small.yaml", "--set", &set, "--name", "other"]);
    assert!(named.contains(&format!("image: {IMAGE}")), "{named}");
    assert!(named.contains("name: other-1"), "{named}");
}

#[test]
fn an_image_has_to_be_named() {
    let yard = yard();
    for arguments in [&["render", "small.yaml"][..], &["run", "small.yaml", "--on", "kubernetes"]] {
        let error = fails_without_a_cluster(&yard, arguments);
        let sentence = "no image is named; give one with `--image`, or `on.kubernetes.image` in the \
                        run file (`deploy/README.md` says how to make it)";
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn render_does_not_promise_files_of_this_machine() {
    let yard = yard();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "10", "--savedir", "d"]);
    let file = SMALL.replace("mnist-sample", "d/0.npz").replace("1000", "100");
    yard.file("small.yaml", format!("{file}evaluate: false\n"));
    let error = yard.fails(2, &["render", "small.yaml", "--image", IMAGE]);
    for part in ["files of this machine", "only `run --on kubernetes` sends them"] {
        assert!(error.contains(part), "{error}");
    }
    yard.file("small.yaml", SMALL.replace("mnist-mlp", "absent.safetensors"));
    let error = yard.fails(2, &["render", "small.yaml", "--image", IMAGE]);
    assert!(error.contains("absent.safetensors"), "{error}");
}

#[test]
fn a_wrong_file_is_refused_here_rather_than_in_a_pod() {
    let yard = yard();
    for verb in [&["render"][..], &["run", "--on", "kubernetes"]] {
        let file = ["small.yaml", "--image", IMAGE, "--set", "train.workers=9001"];
        let error = fails_without_a_cluster(&yard, &[verb, &file].concat());
        assert!(error.contains("9,001 workers"), "{error}");
    }
}

#[test]
fn without_a_cluster_it_says_where_it_looked() {
    let yard = yard();
    let verbs = [
        &["run", "small.yaml", "--image", IMAGE][..],
        &["ls"],
        &["status", "small"],
        &["logs", "small"],
        &["report", "small"],
        &["stop", "small"],
        &["why", "small"],
        &["get", "small"],
        &["rm", "small"],
        &["open", "small"],
    ];
    for verb in verbs {
        let arguments = [verb, &["--on", "kubernetes"]].concat();
        let error = fails_without_a_cluster(&yard, &arguments);
        let absent = yard.path("absent").display().to_string();
        for part in ["cannot find a cluster", absent.as_str(), "is KUBECONFIG set"] {
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    }
    for folder in ["runs", "small"] {
        assert!(!yard.path(folder).exists(), "{folder} was made in vain");
    }
}

#[test]
fn a_context_that_is_not_there_is_named() {
    let yard = yard();
    let config = yard.file("config", "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\n");
    let mut command = yard.command(&["ls", "--on", "kubernetes", "--context", "elsewhere"]);
    let output = command.env("KUBECONFIG", config).output().expect("the binary starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("elsewhere") && error.contains("cannot find a cluster"), "{error}");
}
