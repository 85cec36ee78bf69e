import Capabilities
import FileKit
import JSON
import Registry
import RunReports
import Runs

/// Writes the reports that were asked for.
struct RunDocuments {
    let wish: RunWish
    let finder: BundleFinder

    func write(_ summary: RunSummary) throws {
        if let path = wish.junit { try write(JUnitReport.text(summary), to: path) }
        if let path = wish.html { try write(HTMLReport.text(summary), to: path) }
        if let path = wish.report { try write(RunReport(summary).json.text(.pretty) + "\n", to: path) }
        let environment = finder.host.environment
        if GitHubReport.isWanted(environment), let path = environment["GITHUB_STEP_SUMMARY"], !path.isEmpty {
            let file = try LineFile(path, isNew: false)
            file.write(GitHubReport.summary(summary))
            try file.check()
        }
    }

    private func write(_ text: String, to path: String) throws {
        let path = finder.absolute(path)
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try Files.makeDirectories(String(path[..<slash]), mode: 0o755)
        }
        try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644)
    }
}
