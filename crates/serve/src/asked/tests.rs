use super::*;

fn read<'a>(content_type: &str, body: &'a [u8]) -> Result<Asked<'a>, Problem> {
    Asked::read(content_type, body, &Limits::default())
}

fn json(body: &str) -> Result<Asked<'_>, String> {
    read("application/json; charset=utf-8", body.as_bytes()).map_err(|problem| problem.sentence)
}

const FORM: &str = "multipart/form-data; boundary=\"a;b\"";

fn form(body: &str) -> Result<Asked<'static>, String> {
    let body = body.replace('\n', "\r\n").into_bytes().leak();
    read(FORM, body).map_err(|problem| problem.sentence)
}

#[test]
fn numbers_have_a_shape() {
    let nested = |shape: &[usize], values: &[f32]| {
        Ok(Asked::Numbers(Nested { shape: shape.to_vec(), values: values.to_vec() }))
    };
    assert_eq!(
        json(r#"{"inputs": [[1, 2.5], [-3, 4e2]]}"#),
        nested(&[2, 2], &[1., 2.5, -3., 400.])
    );
    assert_eq!(json(r#"{"inputs": [[[7]]]}"#), nested(&[1, 1, 1], &[7.0]));
    assert_eq!(json(r#"{"inputs": 7}"#), nested(&[], &[7.0]));
}

#[test]
fn what_is_no_array_of_numbers_is_refused() {
    for (body, expected) in [
        ("[[1, 2], [3]]", "differ in length"),
        ("[[1, 2], [3, 4, 5]]", "differ in length"),
        ("[[1, 2], 3]", "where an array should be"),
        ("[1, [2]]", "where a number should be"),
        ("[[[1], [2]], [[3], 4]]", "where an array should be"),
        ("[[], []]", "empty"),
        ("[]", "empty"),
        ("[null]", "expected a number"),
        ("[NaN]", "expected"),
        ("[\"1\"]", "expected a number"),
        ("[1e39]", "too large"),
        ("[[[[[[[[[1]]]]]]]]]", "too deep"),
        ("[1", "expected"),
    ] {
        let error = json(&format!("{{\"inputs\": {body}}}")).unwrap_err();
        assert!(error.contains(expected), "{body}: {error}");
    }
}

#[test]
fn samples_are_counted_by_the_shape_of_one() {
    let samples = |found: &[usize], shape: &[usize]| {
        let values = vec![0.0; found.iter().product()];
        Nested { shape: found.to_vec(), values }.samples(shape)
    };
    assert_eq!(samples(&[28, 28], &[28, 28, 1]), Some(1));
    assert_eq!(samples(&[784], &[28, 28, 1]), Some(1));
    assert_eq!(samples(&[5, 28, 28], &[28, 28, 1]), Some(5));
    assert_eq!(samples(&[5, 784], &[28, 28, 1]), Some(5));
    assert_eq!(samples(&[5, 28, 28, 1], &[28, 28, 1]), Some(5));
    assert_eq!(samples(&[5], &[1]), Some(5));
    assert_eq!(samples(&[5, 27, 28], &[28, 28, 1]), None);
    assert_eq!(samples(&[783], &[28, 28, 1]), None);
    assert_eq!(samples(&[], &[1]), Some(1));
    assert_eq!(samples(&[], &[2]), None);
}

#[test]
fn texts_and_images_come_as_json_too() {
    let texts = Asked::Texts(vec!["good".into(), "it's \"bad\"".into()]);
    assert_eq!(json(r#"{"texts": ["good", "it's \"bad\""]}"#), Ok(texts));
    let pictures = Ok(Asked::Pictures(vec![b"abc"[..].into(), b"abcd"[..].into()]));
    assert_eq!(json(r#"{"images": ["YWJj", "data:image/png;base64,YWJjZA=="]}"#), pictures);
    for body in [r#"{"images": ["?"]}"#, r#"{"images": [""]}"#, r#"{"images": ["data:x,YWJj"]}"#] {
        assert!(json(body).unwrap_err().contains("base64"), "{body}");
    }
    for body in ["{}", r#"{"inputs": [1], "texts": ["a"]}"#] {
        assert!(json(body).unwrap_err().contains("one of"), "{body}");
    }
    assert!(json(r#"{"input": [1]}"#).unwrap_err().contains("unknown field"));
    assert!(json(r#"{"texts": []}"#).unwrap_err().contains("Nothing"));
}

#[test]
fn limits_hold() {
    let limits = Limits { questions: 2, text: 3, ..Limits::default() };
    let read = |body: &str| Asked::read("application/json", body.as_bytes(), &limits).map(drop);
    for body in [r#"{"texts": ["a", "b", "c"]}"#, r#"{"texts": ["four"]}"#] {
        assert_eq!(read(body).unwrap_err().status, StatusCode::PAYLOAD_TOO_LARGE, "{body}");
    }
    assert_eq!(read(r#"{"texts": ["a", "bcd"]}"#), Ok(()));
}

#[test]
fn a_form_has_pictures_or_texts() {
    let file = "--a;b\nContent-Disposition: form-data; name=\"file\"; filename=\"a;b.png\"\n\
                Content-Type: image/png\n\n\u{1}\n--a;\n--a;b--\n";
    assert_eq!(form(file), Ok(Asked::Pictures(vec![b"\x01\r\n--a;"[..].into()])));
    let two = "before\n--a;b \ncontent-disposition:form-data;name=review\n\none\n--a;b\n\
               Content-Disposition: form-data; filename=\"\"; name=\"file\"\n\n\n--a;b\n\
               Content-Disposition: form-data; name=\"review\"\n\ntwo\n--a;b--";
    assert_eq!(form(two), Ok(Asked::Texts(vec!["one".into(), "two".into()])));
}

#[test]
fn damaged_forms_are_refused() {
    let head = "--a;b\nContent-Disposition: form-data; name=\"file\"\n\n";
    for (body, expected) in [
        (String::new(), "cut short"),
        ("--a;b--".into(), "empty"),
        (format!("{head}x"), "cut short"),
        (format!("{head}x\n--a;b"), "cut short"),
        (format!("{head}x\n--a;bc\n\n\n--a;b--"), "follows a boundary"),
        ("--a;b\nx\n--a;b--".into(), "no head"),
        ("--a;b\nContent-Disposition: form-data\n\nx\n--a;b--".into(), "no name"),
        ("--a;b\nContent-Disposition: form-data; name=\"f\n\nx\n--a;b--".into(), "no name"),
        (head.replace("file", "other") + "x\n--a;b--", "`file` and `review`"),
    ] {
        let error = form(&body).unwrap_err();
        assert!(error.contains(expected), "{body:?}: {error}");
    }
    for content_type in ["multipart/form-data", "multipart/form-data; boundary="] {
        let error = read(content_type, b"--x--").unwrap_err();
        assert!(error.sentence.contains("boundary"), "{error:?}");
    }
    assert_eq!(read("text/plain", b"x").unwrap_err().status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[test]
fn a_form_without_files_is_a_text() {
    let read = |body: &'static str| {
        read("application/x-www-form-urlencoded", body.as_bytes()).map_err(|it| it.sentence)
    };
    let text = |text: &'static str| Ok(Asked::Texts(vec![text.into()]));
    assert_eq!(read("review=so+good%21+100%+%e2%9c%93"), text("so good! 100% ✓"));
    assert_eq!(read("review=a%2"), text("a%2"));
    assert!(read("review=%ff").unwrap_err().contains("UTF-8"));
    assert!(read("other=1").unwrap_err().contains("review"));
    assert!(read("").unwrap_err().contains("Nothing"));
}
