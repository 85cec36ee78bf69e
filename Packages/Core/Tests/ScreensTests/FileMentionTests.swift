import Screens
import Testing

@Suite("File mentions") struct FileMentionTests {
    private func paths(_ text: String) -> [[String]] { FileMention.all(in: text).map(\.paths) }

    @Test("A word that begins with the mark may name a file, and one within a word does not")
    func words() {
        #expect(paths("@a.txt compare\n@/etc/hosts with\t@../b") == [["a.txt"], ["/etc/hosts"], ["../b"]])
        #expect(paths("ada@example.org (@a) a@b x\"@c\"").isEmpty)
        #expect(paths("@MainActor and @alice") == [["MainActor"], ["alice"]])
    }

    @Test("What ends a sentence is not part of the path, unless such a file exists")
    func sentences() {
        #expect(paths("Is it @a.txt?") == [["a.txt?", "a.txt"]])
        #expect(paths("@a, @b.") == [["a,", "a"], ["b.", "b"]])
        #expect(paths("@...") == [["..."]])
    }

    @Test("Quotes hold spaces together; without their end, and over lines, they are only text")
    func quotes() {
        #expect(paths("read @\"a b.txt\", please") == [["a b.txt"]])
        #expect(paths("@\"a b.txt and @c") == [["c"]])
        #expect(paths("@\"a\nb\"").isEmpty && paths("@\"\" @ @@").map(\.first) == ["@"])
    }

    @Test(
        "The word before the cursor is completed while it is open",
        arguments: [
            ("@", "", 1), ("see @src/ma", "src/ma", 7), ("@\"a b", "a b", 5), ("@\"a b\" and @c", "c", 2),
            ("one\n@two", "two", 4),
        ])
    func unfinished(text: String, path: String, count: Int) throws {
        let found = try #require(FileMention.unfinished(atEndOf: text))
        #expect(found.path == path && found.count == count)
    }

    @Test("Nothing is completed after the end of a word", arguments: ["", "@a ", "a@b", "@\"a b\"", "@a\n", "@a b"])
    func finished(text: String) { #expect(FileMention.unfinished(atEndOf: text) == nil) }

    @Test("A path is read as it was written", arguments: ["a", "a b", "dir with/a", "a'b", "a\"b", "é/ü"])
    func roundTrip(path: String) {
        #expect(FileMention.canWrite(path))
        #expect(paths("see \(FileMention.written(path, isOpen: false)) now").map(\.first) == [path])
    }

    @Test("A path that would be read as another one is not written", arguments: ["\"a", "a \"b", "a\nb"])
    func unwritable(path: String) { #expect(!FileMention.canWrite(path)) }
}
