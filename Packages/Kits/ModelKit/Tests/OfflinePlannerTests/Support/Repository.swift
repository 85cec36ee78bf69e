import CoreTesting
import FileKit
import HTTPTesting

/// A random repository, with the places of planted markers and symbols.
struct Repository {
    /// `path:line` of each TODO and FIXME, with the text of the line.
    private(set) var markers: [String: String] = [:]
    /// `path:line` of each line with the symbol.
    private(set) var uses: Set<String> = []
    private(set) var definition = ""
    private(set) var files: [String: [String]] = [:]
    let symbol: String

    /// Lines that look similar to markers but are not.
    private static let decoys = [
        "let todos = 3", "// todo in small letters", "let TODOLIST = 1", "// a METHODOLOGY", "let x = 1", "", "}",
        "    return value", "// FIXMEUP is no marker", "print(\"hello\")",
    ]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        symbol = "Planted\(random.next() % 1000)Thing"
        let folders = ["", "Sources/", "Sources/Core/", "Tests/", "docs/deep/down/"]
        let ends = [".swift", ".py", ".md", ".txt"]
        var paths: [String] = []
        for number in 0..<Int.random(in: 4...14, using: &random) {
            let folder = folders.randomElement(using: &random) ?? ""
            paths.append("\(folder)file\(number)\(ends.randomElement(using: &random) ?? "")")
        }
        for path in paths {
            var lines: [String] = []
            for number in 1...Int.random(in: 3...120, using: &random) {
                switch Int.random(in: 0..<14, using: &random) {
                case 0:
                    let marker = Bool.random(using: &random) ? "TODO" : "FIXME"
                    lines.append("    // \(marker): tidy up number \(random.next() % 1_000_000)")
                    markers["\(path):\(number)"] = lines.last
                case 1:
                    lines.append("    use(\(symbol)(), \(number))")
                    uses.insert("\(path):\(number)")
                case 2: lines.append("    use(\(symbol)Else(), My\(symbol))")
                default: lines.append(Self.decoys.randomElement(using: &random) ?? "")
                }
            }
            files[path] = lines
        }
        let path = paths[0]
        files[path]?.append("struct \(symbol) {}")
        definition = "\(path):\(files[path]?.count ?? 0)"
    }

    func write(to folder: String) throws {
        for (path, lines) in files { try write(path, lines.joined(separator: "\n") + "\n", to: folder) }
    }

    private func write(_ path: String, _ text: String, to folder: String) throws {
        if let slash = path.lastIndex(of: "/") { try Files.makeDirectories("\(folder)/\(path[..<slash])") }
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(path)")
    }
}
