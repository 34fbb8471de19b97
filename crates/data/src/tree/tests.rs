//! Folders and archives say the same of the same files.

use std::fs;
use std::io::Write;

use super::*;

/// A tar header and the bytes after it.
fn member(name: &str, kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..263].copy_from_slice(b"ustar\0");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut all = header.to_vec();
    all.extend_from_slice(bytes);
    all.resize(all.len().next_multiple_of(512), 0);
    all
}

fn tarball(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), vec![0; 1024]].concat()
}

fn long_name() -> String {
    format!("top/{}.txt", "n".repeat(200))
}

/// The same three files in every form, with things beside them that do not count.
fn forms(dir: &Path) -> Vec<PathBuf> {
    let long = long_name();
    let files = [("top/b.txt", "bee"), ("top/a/x.txt", ""), (long.as_str(), "long")];
    let root = dir.join("folder");
    fs::create_dir_all(root.join("top/a")).unwrap();
    for (path, text) in files {
        fs::write(root.join(path), text).unwrap();
    }
    fs::write(root.join("top/.hidden"), "").unwrap();

    let zip = dir.join("a.zip");
    let mut writer = zip::ZipWriter::new(File::create(&zip).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    writer.add_directory("top/a", options).unwrap();
    for (path, text) in files {
        writer.start_file(path.replace('/', "\\"), options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.start_file("__MACOSX/top/._b.txt", options).unwrap();
    writer.finish().unwrap();

    let pax = format!("{} path={long}\n", long.len() + 10);
    let bytes = tarball(&[
        member("top/", b'5', b""),
        member("./top/b.txt", b'0', b"bee"),
        member("top/link", b'2', b""),
        member("top/a/x.txt", b'0', b""),
        member("PaxHeaders/x", b'x', pax.as_bytes()),
        member("top/nnn", b'0', b"long"),
    ]);
    let tar = dir.join("a.tar");
    fs::write(&tar, &bytes).unwrap();
    let gz = dir.join("a.tar.gz");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&bytes).unwrap();
    fs::write(&gz, packer.finish().unwrap()).unwrap();
    let gnu = dir.join("gnu.tgz");
    let long = member("././@LongLink", b'L', format!("{}\0", long_name()).as_bytes());
    let rest = [member("top/a/x.txt", b'0', b""), member("top/b.txt", 0, b"bee")];
    fs::write(&gnu, tarball(&[[long, member("top/n", b'0', b"long")].concat(), rest.concat()]))
        .unwrap();
    vec![root, zip, tar, gz, gnu]
}

#[test]
fn every_form_lists_and_reads_alike() {
    let dir = tempfile::tempdir().unwrap();
    for path in forms(dir.path()) {
        let tree = Tree::open(&path).unwrap();
        let listed: Vec<(&str, u64)> =
            tree.entries.iter().map(|entry| (entry.path.as_str(), entry.size)).collect();
        let long = long_name();
        assert_eq!(
            listed,
            [("top/a/x.txt", 0), ("top/b.txt", 3), (long.as_str(), 4)],
            "{}",
            path.display()
        );
        let mut read = vec![None; 2];
        tree.each(&[2, 1], 4, &mut |place, bytes| {
            read[place] = Some(bytes.unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(read, [Some(b"long".to_vec()), Some(b"bee".to_vec())], "{}", path.display());
        let error = tree.read(2, 3).unwrap_err().to_string();
        assert!(error.contains("more than 3 bytes") && error.contains("nnn.txt"), "{error}");
        assert!(is_archive(&path) || path.is_dir());
    }
}

#[test]
fn names_that_lead_out_and_names_that_stand_twice_are_refused() {
    for name in ["../x", "a/../../x", "/etc/x", "C:/x"] {
        let bytes = tarball(&[member(name, b'0', b"")]);
        let error = read_archive(&bytes, 10).unwrap_err().to_string();
        assert!(error.contains("leads out"), "{error}");
    }
    let twice = tarball(&[member("a", b'0', b"1"), member("./a", b'0', b"2")]);
    let error = read_archive(&twice, 10).unwrap_err().to_string();
    assert!(error.contains("`a` twice"), "{error}");
}

#[test]
fn what_is_torn_or_no_archive_is_an_error() {
    let whole = tarball(&[member("a", b'0', &[7; 2000])]);
    assert_eq!(read_archive(&whole, 2000).unwrap(), [("a".to_owned(), vec![7; 2000])]);
    for broken in [&whole[..700], &whole[..100], b"hello", &[1; 600]] {
        assert!(read_archive(broken, 2000).is_err(), "{}", broken.len());
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&whole).unwrap();
    let packed = packer.finish().unwrap();
    assert!(read_archive(&packed[..packed.len() / 2], 2000).is_err());
}

#[test]
fn sizes_in_gnus_large_form() {
    let sized = |size: &[u8; 12]| {
        let mut header = member("a", b'0', b"");
        header[124..136].copy_from_slice(size);
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        read_archive(&[header, b"xyz".to_vec(), vec![0; 1533]].concat(), 10)
    };
    assert_eq!(sized(b"\x80\0\0\0\0\0\0\0\0\0\0\x03").unwrap()[0].1, b"xyz");
    assert!(sized(b"\x80\0\0\x01\0\0\0\0\0\0\0\x03").is_err());
    assert!(sized(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").is_err());
    // A sum in that form is read, and wrong.
    let mut header = member("a", b'0', b"");
    header[148..156].copy_from_slice(b"\x80\0\0\0\0\0\0\x01");
    assert!(read_archive(&header, 10).is_err());
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_left() {
    // Zeros without end behind a header that claims them.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut header = member("big", b'0', b"");
    header[124..135].copy_from_slice(format!("{:011o}", 1u64 << 32).as_bytes());
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    packer.write_all(&header).unwrap();
    for _ in 0..20 {
        packer.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let bomb = packer.finish().unwrap();
    let error = read_archive(&bomb, 10).unwrap_err().to_string();
    assert!(error.contains("times its size"), "{error}");
}
