import Capabilities
import JSON
import Testing
import TurnLoop

@Suite("Call text")
struct CallTextTests {
    private func call(_ name: String, _ input: JSON) -> ToolCall { ToolCall(id: "1", name: name, input: input) }

    @Test("The headline names the action and its target on one line")
    func headline() {
        #expect(call("fs.read", ["path": "README.md"]).headline == "read README.md")
        #expect(call("Read", ["file_path": "/a/b.txt"]).headline == "read /a/b.txt")
        #expect(call("bash_run", ["command": "make test", "timeout_ms": 5]).headline == "make test")
        #expect(call("multi_edit", ["path": "a.py", "edits": []]).headline == "edit a.py")
        #expect(call("grep.search", ["pattern": "TODO", "path": "src"]).headline == "search “TODO” in src")
        #expect(call("multi.write", ["files": [["path": "a"], ["path": "b"]]]).headline == "write a and 1 more")
        #expect(call("weather", ["place": "Kyiv"]).headline == "weather")
        #expect(call("shop_stock", ["name": "nails"]).headline == "shop_stock nails")
    }

    @Test("The headline is one short line and cannot control the terminal, whatever the model wrote")
    func hostile() {
        let long = call("bash.run", ["command": .string("echo 1\nrm -rf /")]).headline
        #expect(long == "echo 1…")
        #expect(call("fs.read", ["path": .string(String(repeating: "x", count: 500))]).headline.count < 100)
        #expect(!call("fs.read", ["path": "a\u{1B}[2Jb"]).headline.unicodeScalars.contains("\u{1B}"))
        #expect(!call("fs.read", ["path": "a\u{1B}[2Jb"]).preview.unicodeScalars.contains("\u{1B}"))
    }

    @Test("A command is shown as a command, with its other options")
    func command() {
        #expect(call("bash.run", ["command": "make a\nmake b"]).preview == "$ make a\n$ make b")
        let timed = call("bash.run", ["command": "make", "timeout_ms": 600000]).preview
        #expect(timed.hasPrefix("$ make\n") && timed.contains("600000"))
    }

    @Test("An edit is shown as removed and added lines")
    func edit() {
        let edits: JSON = [
            ["old_text": "a\nb", "new_text": "c"], ["old_text": "d", "new_text": "", "replace_all": true],
        ]
        let text = call("multi.edit", ["path": "x.py", "edits": edits]).preview
        #expect(text == "x.py\n- a\n- b\n+ c\n- d\n{\"replace_all\":true}")
        #expect(
            call("Edit", ["file_path": "x", "old_string": "a", "new_string": "b"]).preview == "x\n- a\n+ b")
        #expect(call("edit.file", ["path": "x", "patch": "@@ -1 +1 @@\n-a\n+b"]).preview == "x\n@@ -1 +1 @@\n-a\n+b")
    }

    @Test("A new file is shown with its lines and the number of lines left out")
    func write() {
        let lines = (1...250).map { "line \($0)" }.joined(separator: "\n")
        let text = call("fs.write", ["path": "x", "content": .string(lines)]).preview
        #expect(text.hasPrefix("x\n+ line 1\n") && text.contains("and 50 more lines") && !text.contains("line 201"))
        let files: JSON = [["path": "a", "content": "1"], ["path": "b", "content": "2"]]
        #expect(call("multi.write", ["files": files]).preview == "a\n+ 1\nb\n+ 2")
    }

    // sandbox case 86
    @Test("A diff is shown with whole lines and the number of lines left out, and no command is cut")
    func long() {
        let lines = (1...250).map { "+line \($0)\n" }.joined()
        let call = call("fs.write", ["path": "x", "content": "y"])
        let cut = ToolReach(diff: "--- a/x\n+++ b/x\n@@ -0,0 +1,250 @@\n\(lines)").preview(of: call)
        #expect(cut.contains("+line 197\n") && !cut.contains("+line 198"), "\(cut)")
        #expect(cut.hasSuffix("\n… and 53 more lines"), "\(cut)")
        // The control: a preview that shows everything has no such line.
        let whole = ToolReach(diff: "@@ -0,0 +1 @@\n+line 1\n").preview(of: call)
        #expect(whole == "@@ -0,0 +1 @@\n+line 1")
        let padding = String(repeating: " ", count: 10_000)
        #expect(ToolReach(diff: "+\(padding)payload\n").preview(of: call) == "+\(padding)payload")
        let command = String(repeating: "true\n", count: 2000) + "\(padding)payload"
        let shown = ToolReach().preview(of: self.call("bash.run", ["command": .string(command)]))
        #expect(shown.hasSuffix("\n$ \(padding)payload") && shown.split(separator: "\n").count == 2001)
    }

    @Test("The whole input of an unknown tool is shown")
    func other() {
        #expect(call("saw", ["wood": "ash"]).preview.contains("\"wood\""))
        #expect(call("saw", ["edits": [["what": "ever"]]]).preview.contains("ever"))
        #expect(call("saw", "text").preview == "\"text\"")
    }
}
