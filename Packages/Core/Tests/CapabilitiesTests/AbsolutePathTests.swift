import Capabilities
import Testing

@Suite("AbsolutePath")
struct AbsolutePathTests {
    @Test(
        "An absolute path has neither empty names nor dots, and never goes above the root",
        arguments: [
            ("/a//b/./c/", "/a/b/c"), ("/a/../b", "/b"), ("/../..", "/"), ("/", "/"), ("/a/b/..", "/a"),
            ("/...", "/..."),
            ("/a/..b/.c", "/a/..b/.c"),
        ])
    func normal(text: String, normal: String) {
        #expect(AbsolutePath(text).text == normal)
    }

    /// In a Swift string, each slash merges with the character after it or before it.
    @Test(
        "An absolute path is split by bytes, as the kernel splits it",
        arguments: [
            ("/a\u{600}/../b", 1), ("/../\u{301}x/y", 2), ("/sub\u{600}/.git/config", 3), ("/.git/\u{301}a/b", 3),
        ])
    func bytes(text: String, count: Int) {
        let path = AbsolutePath(text)
        #expect(path.names.count == count && !path.names.contains { $0.contains(UInt8(ascii: "/")) })
        #expect(AbsolutePath.isAbsolute("/\u{301}x") && AbsolutePath.joined("/\u{301}x", in: "/a") == "/\u{301}x")
    }

    @Test("A path lies beneath another by whole names, and not by another encoding of the same letters")
    func beneath() {
        let folder = AbsolutePath("/a/b")
        #expect(AbsolutePath("/a/b").lies(beneath: folder) && AbsolutePath("/a/b/c").lies(beneath: folder))
        #expect(!AbsolutePath("/a/bc").lies(beneath: folder) && !AbsolutePath("/a").lies(beneath: folder))
        #expect(AbsolutePath("/x").lies(beneath: AbsolutePath("/")))
        #expect(!AbsolutePath("/e\u{301}/x").lies(beneath: AbsolutePath("/\u{E9}")))
        #expect(AbsolutePath("/a/b/c/d").names(beneath: folder)?.count == 2)
        #expect(AbsolutePath.joined("x", in: "/") == "/x" && AbsolutePath.joined("x", in: "/a") == "/a/x")
    }
}
