import Capabilities
import Testing

@Suite("PathParts")
struct PathPartsTests {
    @Test(
        "A path has a folder and a last name",
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("//", "/", ""), ("a", ".", "a"), ("a/b", "a", "b"),
            ("", ".", ""), ("/a//b//", "/a", "b"), ("./a", ".", "a"), ("../a", "..", "a"), ("/a/..", "/a", ".."),
        ])
    func parts(path: String, folder: String, name: String) {
        #expect(PathParts(path).folder == folder)
        #expect(PathParts(path).name == name)
    }

    @Test("A path is split by bytes, as the kernel splits it")
    func bytes() {
        #expect(PathParts("/a/\u{301}b").folder == "/a" && PathParts("/a/\u{301}b").name == "\u{301}b")
        #expect(PathParts("/\u{301}a").folder == "/")
    }
}
