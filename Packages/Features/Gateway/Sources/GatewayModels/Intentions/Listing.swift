/// What `glob` and `ls` give.
struct Listing {
    /// The paths that were found.
    private(set) var files: [String] = []
    /// How many there are, also those that were left out.
    private(set) var total = 0

    /// From paths, one a line, and a note "N files fit, of which …".
    init(files text: String) {
        var noted: Int?
        for row in text.split(separator: "\n") {
            if row.hasPrefix("["), row.last == "]" {
                if row.contains("files fit, of which") { noted = Int(row.dropFirst().prefix { $0.isNumber }) }
            } else {
                files.append(String(row))
            }
        }
        total = max(noted ?? 0, files.count)
    }

    /// The rows of a tree: how deep each stands, its name, and whether it is a folder.
    static func tree(_ text: String) -> [(depth: Int, name: String)] {
        text.split(separator: "\n").compactMap { row in
            guard !row.hasPrefix("["), row.count > 34 else { return nil }
            // Size and time take 34 columns, and each level two more.
            let rest = row.dropFirst(34)
            let name = rest.drop { $0 == " " }
            return name.isEmpty ? nil : ((rest.count - name.count) / 2, String(name))
        }
    }
}
