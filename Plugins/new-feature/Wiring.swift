import Foundation

/// The two files that name every feature: the root manifest and the executable's list of features.
struct Wiring {
    let manifest: TextFile
    let executable: TextFile

    var files: [TextFile] { [manifest, executable] }

    init(in root: URL) throws {
        manifest = try TextFile(path: "Package.swift", in: root)
        executable = try TextFile(path: "Apps/martlet/BuiltInFeatures.swift", in: root)
    }

    private init(manifest: TextFile, executable: TextFile) {
        self.manifest = manifest
        self.executable = executable
    }

    /// A copy with one more feature, inserted in alphabetical order.
    ///
    /// - Parameter provided: the capabilities that it provides.
    func adding(_ name: FeatureName, providing provided: [String]) throws(Refusal) -> Wiring {
        let name = name.description
        return Wiring(
            manifest: try Self.edited(manifest) { (lines) throws(Refusal) in try Self.list(name, in: &lines) },
            executable: try Self.edited(executable) { (lines) throws(Refusal) in
                try Self.entry(name, providing: provided, in: &lines)
                try Self.importing(name, in: &lines)
            })
    }

    private static func edited(
        _ file: TextFile, _ edit: (inout [String]) throws(Refusal) -> Void
    ) throws(Refusal) -> TextFile {
        var lines = file.text.components(separatedBy: "\n")
        do throws(Refusal) {
            try edit(&lines)
        } catch {
            throw Refusal("\(file.path) \(error); nothing was changed")
        }
        return TextFile(path: file.path, text: lines.joined(separator: "\n"))
    }

    private static func list(_ name: String, in lines: inout [String]) throws(Refusal) {
        let place = try elements(of: "let features: [String] = [", in: &lines)
        let next = place.first { (lines[$0].quoted ?? "") > name } ?? place.endIndex
        lines.insert("    \"\(name)\",", at: next)
        separate(place.startIndex...place.endIndex, in: &lines) { $0.quoted != nil }
    }

    private static func entry(
        _ name: String, providing provided: [String], in lines: inout [String]
    ) throws(Refusal) {
        let place = try elements(of: "        [", in: &lines)
        let indent = "            "
        let opening = indent + "BuiltInFeature("
        // The formatter splits a long entry into several lines and puts the name on the second one.
        let next =
            place.first { lines[$0].hasPrefix(opening) && (lines[$0].quoted ?? lines[$0 + 1].quoted ?? "") > name }
            ?? place.endIndex
        let provides = provided.isEmpty ? "" : ", provides: " + provided.map { "\"\($0)\"" }.joined(separator: ", ")
        let entry = [
            "BuiltInFeature(trait: \"\(name)\"\(provides)) {", "    #if \(name)", "        \(name)Feature.self",
            "    #endif",
            "},",
        ]
        lines.insert(contentsOf: entry.map { indent + $0 }, at: next)
        separate(place.startIndex..<place.endIndex + entry.count, in: &lines) { $0.hasPrefix(indent + "}") }
    }

    /// The lines between an opening bracket and the closing one below it.
    private static func elements(of opening: String, in lines: inout [String]) throws(Refusal) -> Range<Int> {
        let closing = opening.prefix { $0 == " " } + "]"
        // The formatter writes an empty list on one line.
        if let empty = lines.firstIndex(of: opening + "]") {
            lines.replaceSubrange(empty...empty, with: [opening, String(closing)])
        }
        guard let start = lines.firstIndex(of: opening), let end = lines[start...].firstIndex(where: { $0 == closing })
        else { throw Refusal("has no list '\(opening)' with one element per line") }
        return start + 1..<end
    }

    /// Ends every element with a comma; a single element has none, as the formatter requires.
    private static func separate(
        _ place: some Collection<Int>, in lines: inout [String], where isEnd: (String) -> Bool
    ) {
        let ends = place.filter { isEnd(lines[$0]) }
        for end in ends {
            let bare = lines[end].hasSuffix(",") ? String(lines[end].dropLast()) : lines[end]
            lines[end] = ends.count > 1 ? bare + "," : bare
        }
    }

    private static func importing(_ name: String, in lines: inout [String]) throws(Refusal) {
        let block = ["#if \(name)", "    import \(name)", "#endif"]
        let conditions = lines.indices.filter { lines[$0].hasPrefix("#if ") }
        if let next = conditions.first(where: { lines[$0].dropFirst(4) > name }) {
            lines.insert(contentsOf: block, at: next)
        } else if let last = conditions.last, let end = lines[last...].firstIndex(of: "#endif") {
            lines.insert(contentsOf: block, at: end + 1)
        } else if let last = lines.lastIndex(where: { $0.hasPrefix("import ") }) {
            lines.insert(contentsOf: [""] + block, at: last + 1)
        } else {
            throw Refusal("has no imports, so there is no place to add one")
        }
    }
}

extension String {
    /// The text between the first two quotation marks of a line.
    fileprivate var quoted: String? {
        let parts = split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : nil
    }
}
