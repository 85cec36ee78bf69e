import FileKit

/// How the files that settings come from were at one moment.
struct SettingsMarks: Sendable, Equatable {
    private var marks: [String: FileMark] = [:]

    init(of paths: [String]) {
        for path in paths {
            do { marks[path] = try Files.mark(path) } catch {
                // What cannot be looked at cannot be read either, which is told where it is read.
            }
        }
    }

    /// Whether a file that had something in it is empty or gone.
    func lacksContent(of before: SettingsMarks) -> Bool {
        before.marks.contains { path, mark in !mark.isEmpty && marks[path]?.isEmpty ?? true }
    }
}
