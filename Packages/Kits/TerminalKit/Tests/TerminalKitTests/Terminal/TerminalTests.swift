import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

@Suite struct TerminalTests {
    @Test("The size comes from the kernel")
    func kernelSize() throws {
        let pty = try PseudoTerminal(columns: 123, rows: 45)
        let terminal = Terminal(fileDescriptor: pty.slave)
        #expect(terminal.isTerminal)
        #expect(terminal.size(environment: ["COLUMNS": "10"]) == TerminalSize(columns: 123, rows: 45))
    }

    @Test(
        "Without a size from the kernel, the environment or 80 by 24 is used",
        arguments: [
            ([:], 80, 24), (["COLUMNS": "132"], 132, 24), (["COLUMNS": "132", "LINES": "50"], 132, 50),
            (["COLUMNS": "-1", "LINES": "many"], 80, 24), (["COLUMNS": "0"], 80, 24),
        ] as [([String: String], Int, Int)])
    func fallback(environment: [String: String], columns: Int, rows: Int) throws {
        let pipe = try Pipe()
        let terminal = Terminal(fileDescriptor: pipe.writeEnd)
        #expect(!terminal.isTerminal)
        #expect(terminal.size(environment: environment) == TerminalSize(columns: columns, rows: rows))
    }
}
