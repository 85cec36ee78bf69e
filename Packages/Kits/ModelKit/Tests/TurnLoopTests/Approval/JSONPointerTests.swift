import JSON
import Testing

@testable import TurnLoop

@Suite("JSON pointers")
struct JSONPointerTests {
    @Test(
        "A pointer finds its value",
        arguments: [
            ("/path", #""x""#), ("/list/1", "2"), ("/a~1b/~0c", "true"), ("", #"{"path":"x"}"#), ("/list/01", nil),
            ("/list/9", nil), ("/none/deeper", nil), ("path", nil), ("/list/-", nil),
        ] as [(String, String?)])
    func pointers(pointer: String, expected: String?) {
        let input: JSON = pointer.isEmpty ? ["path": "x"] : ["path": "x", "list": [1, 2], "a/b": ["~c": true]]
        #expect(JSONPointer.value(at: pointer, in: input)?.text() == expected)
    }
}
