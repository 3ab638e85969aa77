//! A model file is replaced whole or not at all, whatever happens meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use extremal_data::{ModelFile, Section};

/// A folder of a test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("extremal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a folder for temporary files");
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// What is in it, by name.
    fn names(&self) -> Vec<String> {
        names(&self.0)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder");
    let mut names: Vec<_> = entries
        .map(|e| e.expect("an entry").file_name().into_string())
        .map(|name| name.expect("a plain name"))
        .collect();
    names.sort();
    names
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A model whose bytes all follow from a number.
fn model(number: u64, size: usize) -> ModelFile {
    ModelFile {
        about: vec![("number".into(), number.to_string())],
        sections: vec![Section {
            name: "state".into(),
            bytes: vec![number as u8; size],
        }],
    }
}

fn number(path: &Path, size: usize) -> u64 {
    let read = ModelFile::read(path).expect("a whole model");
    let number = read.about("number").and_then(|n| n.parse().ok());
    let number = number.expect("its number");
    assert_eq!(read, model(number, size), "a mixture");
    number
}

fn complaint(result: extremal_data::Result<()>) -> String {
    result
        .expect_err("nothing that can be written to")
        .to_string()
}

#[test]
fn what_is_written_is_read_and_nothing_is_left_beside_it() {
    let folder = Folder::new("round");
    let path = folder.join("m.model");
    for k in 0..3 {
        model(k, 1000).write(&path).expect("room");
        assert_eq!(number(&path, 1000), k);
        assert_eq!(
            fs::read(&path).expect("the file"),
            model(k, 1000).to_bytes()
        );
    }
    assert_eq!(folder.names(), ["m.model"]);
}

#[test]
fn a_name_as_long_as_names_can_be_is_written() {
    let folder = Folder::new("long");
    let path = folder.join(&"ä".repeat(127));
    model(1, 10).write(&path).expect("room");
    assert_eq!(number(&path, 10), 1);
}

#[test]
fn a_name_without_a_folder_is_in_the_present_one() {
    // The same test again, as a process that is in the folder.
    if std::env::var_os("EXTREMAL_HERE").is_some() {
        return model(5, 10).write(Path::new("m.model")).expect("room");
    }
    let folder = Folder::new("here");
    let mut child = again("a_name_without_a_folder_is_in_the_present_one");
    let child = child.env("EXTREMAL_HERE", "1").current_dir(&folder.0);
    assert!(child.status().expect("a child").success());
    assert_eq!(number(&folder.join("m.model"), 10), 5);
}

#[test]
fn a_file_that_is_no_model_is_not_read_to_its_end() {
    // endless, both
    for path in ["/dev/zero", "/dev/urandom"] {
        let error = ModelFile::read(Path::new(path)).expect_err("no model");
        let said = error.to_string();
        assert_eq!(said, format!("{path}: the file is not an extremal model"));
    }
}

#[test]
fn a_file_that_is_not_there_and_a_folder_are_said_to_be_so() {
    let folder = Folder::new("absent");
    let read = |path: &Path| ModelFile::read(path).expect_err("no model").to_string();
    let said = read(&folder.join("m.model"));
    assert!(
        said.contains("m.model: the model can't be opened: No such file"),
        "{said}"
    );
    let said = read(&folder.0);
    assert!(
        said.contains("the model can't be read: Is a directory"),
        "{said}"
    );

    let said = complaint(model(0, 1).write(&folder.0));
    assert!(said.ends_with("can't be written: is a directory"), "{said}");
    assert_eq!(folder.names(), [""; 0]);
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_stays_and_what_it_points_to_is_replaced() {
        let folder = Folder::new("link");
        fs::create_dir(folder.join("deep")).expect("a folder");
        let (near, link) = (folder.join("near"), folder.join("link"));
        symlink("deep/m.model", &near).expect("a link");
        symlink(&near, &link).expect("a link");
        // first to a file that is not there yet, then to one that is
        for k in 0..2 {
            model(k, 10).write(&link).expect("room");
            assert!(fs::symlink_metadata(&link).expect("it").is_symlink());
            assert!(fs::symlink_metadata(&near).expect("it").is_symlink());
            assert_eq!(number(&folder.join("deep/m.model"), 10), k);
        }
        assert_eq!(folder.names(), ["deep", "link", "near"]);
        assert_eq!(names(&folder.join("deep")), ["m.model"]);
    }

    #[test]
    fn a_link_that_leads_to_itself_is_an_error() {
        let folder = Folder::new("loop");
        let link = folder.join("link");
        symlink("link", &link).expect("a link");
        let said = complaint(model(0, 10).write(&link));
        assert!(
            said.ends_with("the link can't be followed: too many links in a row"),
            "{said}"
        );
    }

    #[test]
    fn permissions_of_an_existing_file_are_kept() {
        let folder = Folder::new("mode");
        let path = folder.join("m.model");
        for mode in [0o600, 0o640, 0o666] {
            fs::write(&path, "old").expect("room");
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(&path, permissions).expect("my own file");
            model(1, 10).write(&path).expect("room");
            let found = fs::metadata(&path).expect("it").permissions().mode();
            assert_eq!(found & 0o777, mode);
            assert_eq!(number(&path, 10), 1);
        }
    }

    #[test]
    fn a_device_is_written_into_and_not_replaced() {
        let before = fs::metadata("/dev/null").expect("it").permissions();
        model(1, 10).write(Path::new("/dev/null")).expect("room");
        let after = fs::metadata("/dev/null").expect("it");
        assert_eq!(after.permissions(), before);
        assert!(!after.is_file());
        let said = complaint(model(1, 10).write(Path::new("/dev/full")));
        assert!(
            said.starts_with("/dev/full: can't be written: No space left"),
            "{said}"
        );
    }

    #[test]
    fn a_path_that_cannot_be_is_an_error_in_words() {
        let folder = Folder::new("below");
        fs::write(folder.join("file"), "x").expect("room");
        let said = complaint(model(0, 10).write(&folder.join("file/m.model")));
        assert!(
            said.contains("the metadata can't be read: Not a directory"),
            "{said}"
        );
        let said = complaint(model(0, 10).write(&folder.join("nowhere/m.model")));
        assert!(
            said.contains("a temporary file in the same folder can't be created: No such file"),
            "{said}"
        );
        assert_eq!(folder.names(), ["file"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_an_error_and_keeps_the_file() {
        let me = "on_unix::a_folder_that_cannot_be_written_to_is_an_error_and_keeps_the_file";
        if let Some(path) = std::env::var_os("EXTREMAL_READ_ONLY") {
            // The same test again, as a process that sees the folder read-only.
            let said = complaint(model(1, 10).write(Path::new(&path)));
            assert!(said.contains("Read-only file system"), "{said}");
            assert_eq!(number(Path::new(&path), 10), 0);
            return;
        }
        let folder = Folder::new("sealed");
        let path = folder.join("m.model");
        model(0, 10).write(&path).expect("room");
        let seal = "mount --bind -o ro \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" || exit 77";
        match in_a_world_of_its_own(seal, &folder.0, me, ("EXTREMAL_READ_ONLY", &path)) {
            Some(ended_well) => assert!(ended_well),
            None => {
                // Not the superuser, then, whom permissions would not stop.
                let sealed = fs::Permissions::from_mode(0o555);
                fs::set_permissions(&folder.0, sealed).expect("my own folder");
                let written = model(1, 10).write(&path);
                let open = fs::Permissions::from_mode(0o755);
                fs::set_permissions(&folder.0, open).expect("my own folder");
                match written {
                    Ok(()) => println!("skipped: nothing stops this user from writing"),
                    Err(e) => {
                        assert!(e.to_string().contains("Permission denied"), "{e}");
                        assert_eq!(number(&path, 10), 0);
                    }
                }
            }
        }
        assert_eq!(folder.names(), ["m.model"]);
    }

    #[test]
    fn a_full_disk_is_an_error_and_keeps_the_file() {
        let me = "on_unix::a_full_disk_is_an_error_and_keeps_the_file";
        if let Some(path) = std::env::var_os("EXTREMAL_FULL") {
            // The same test again, as a process whose disk is small.
            let path = Path::new(&path);
            model(0, 10_000).write(path).expect("room for a small one");
            let said = complaint(model(1, 200_000).write(path));
            let expected = [
                "the temporary file in the same folder can't be written: No space left",
                "the temporary file in the same folder can't be written: File too large",
            ];
            assert!(expected.iter().any(|e| said.contains(e)), "{said}");
            assert_eq!(number(path, 10_000), 0);
            let folder = path.parent().expect("its folder");
            assert_eq!(names(folder), ["m.model"]);
            // and there is room again
            model(2, 10_000).write(path).expect("room for a small one");
            assert_eq!(number(path, 10_000), 2);
            return;
        }
        let folder = Folder::new("full");
        let path = folder.join("m.model");
        let mount = "mount -t tmpfs -o size=100k tmpfs \"$0\" || exit 77";
        match in_a_world_of_its_own(mount, &folder.0, me, ("EXTREMAL_FULL", &path)) {
            Some(ended_well) => assert!(ended_well),
            None => {
                // Files that may not grow beyond 50 kB are as good; units of 512 or 1024 bytes.
                let limit = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
                let child = again(me);
                let mut shell = Command::new("sh");
                shell.args(["-c", limit, "sh"]).arg(child.get_program());
                shell.args(child.get_args()).env("EXTREMAL_FULL", &path);
                shell.stdout(Stdio::null());
                assert!(shell.status().expect("a shell").success());
            }
        }
    }

    /// Runs a test again after a command that must not be seen from outside; `None` where this
    /// user or system can't. The command ends with 77 where it fails.
    fn in_a_world_of_its_own(
        command: &str,
        folder: &Path,
        test: &str,
        (key, value): (&str, &Path),
    ) -> Option<bool> {
        let child = again(test);
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-c"]);
        shell.arg(format!("({command}) 2>/dev/null || exit 77; exec \"$@\""));
        shell.arg(folder).arg(child.get_program());
        shell.args(child.get_args()).env(key, value);
        shell.stdout(Stdio::null());
        let ended = shell.stderr(Stdio::null()).status().ok()?;
        match ended.code() {
            Some(0) => Some(true),
            Some(101) => Some(false),
            _ => None,
        }
    }
}

/// This test program, to run one test.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]);
    command.stdout(Stdio::null());
    command
}

#[test]
fn a_killed_write_leaves_a_whole_file_and_nothing_that_disturbs_the_next() {
    const SIZE: usize = 300_000;
    if let Some(path) = std::env::var_os("EXTREMAL_KILLED") {
        // The same test again, as the process to be killed.
        for k in 1.. {
            model(k, SIZE).write(Path::new(&path)).expect("room");
        }
    }
    let folder = Folder::new("kill");
    let path = folder.join("m.model");
    model(0, SIZE).write(&path).expect("room");
    let soak = std::env::var("EXTREMAL_SOAK").is_ok_and(|v| v == "1");
    let mut left_over = 0;
    for k in 0..if soak { 200 } else { 20 } {
        let mut child =
            again("a_killed_write_leaves_a_whole_file_and_nothing_that_disturbs_the_next");
        let mut child = child
            .env("EXTREMAL_KILLED", &path)
            .spawn()
            .expect("a child");
        // once it writes, some time later
        while number(&path, SIZE) == 0 {
            assert!(child.try_wait().expect("a child").is_none(), "it ended");
        }
        std::thread::sleep(Duration::from_micros(97 * (k % 50)));
        child.kill().expect("it writes for ever");
        child.wait().expect("a child");
        assert!(number(&path, SIZE) > 0);
        left_over += folder.names().len() - 1;
        model(0, SIZE).write(&path).expect("room");
        assert_eq!(number(&path, SIZE), 0);
        assert_eq!(folder.names(), ["m.model"], "the left-over is still there");
    }
    println!("{left_over} of the killed left a temporary file");
}

#[test]
fn writers_at_the_same_time_leave_one_of_their_models() {
    let folder = Folder::new("crowd");
    let path = folder.join("m.model");
    let failures: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let path = &path;
                scope.spawn(move || {
                    let results = (0..25).map(|k| model(25 * writer + k, 20_000).write(path));
                    results.filter(Result::is_err).count()
                })
            })
            .collect();
        for _ in 0..200 {
            if path.exists() {
                assert!(number(&path, 20_000) < 100);
            }
        }
        writers.into_iter().map(|w| w.join().expect("it")).sum()
    });
    assert_eq!(failures, 0);
    assert!(number(&path, 20_000) < 100);
    assert_eq!(folder.names(), ["m.model"]);
}
