import Capabilities
import TerminalKit
import Testing

@Suite struct ExampleTests {
    @Test("The example of the README prints what the README shows")
    func readme() {
        var table = Table([TableColumn("HOST"), TableColumn("STATE"), TableColumn("NOTE", mayWrap: true)])
        table.append(["web1", StyledText("running", Style(.ring)), "from a server: \u{1B}[2J"])
        #expect(
            table.lines(width: 40).map { $0.rendered(level: .none) } == [
                "HOST  STATE    NOTE", "web1  running  from a server: ␛[2J",
            ])
    }
}
