import Foundation
import PackagePlugin

/// `swift package --allow-writing-to-package-directory new-feature Weather`: writes a feature's package and wires it.
@main
struct NewFeature: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var words = arguments
        let parts = try Self.parts(&words)
        guard words.count == 1, let argument = words.first else {
            throw Refusal("give the feature one name: make feature NAME=Weather")
        }
        let root = context.package.directoryURL
        let name = try FeatureName(argument, in: context.package)
        let folder = root.appending(path: "Packages/Features/\(name)")
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw Refusal("\(folder.path) already exists; choose another name, or remove it first")
        }
        // Prepares all texts before writing the first one, so that a refusal changes nothing.
        let wiring = try Wiring(in: root)
        let wired = try wiring.adding(name, providing: parts.contains("storage") ? ["DataStore"] : [])
        let files = try FeatureTemplate(root.appending(path: "Plugins/new-feature/Template")).files(
            for: name, with: parts)
        do {
            for file in files { try file.write(below: folder) }
            for file in wired.files { try file.write(below: root) }
        } catch {
            takeBack(folder, wiring, root)
            throw error
        }
        print(report(name, files))
    }

    /// Takes `--with http,storage` out of the arguments.
    private static func parts(_ words: inout [String]) throws -> Set<String> {
        guard let option = words.firstIndex(of: "--with") else { return [] }
        let list = words[words.index(after: option)...].first ?? ""
        words.removeSubrange(option..<min(option + 2, words.endIndex))
        let parts = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        if let unknown = parts.first(where: { !FeatureTemplate.parts.contains($0) }) {
            throw Refusal(
                "a feature cannot be made with '\(unknown)'; WITH takes \(FeatureTemplate.parts.joined(separator: ", "))"
            )
        }
        return Set(parts)
    }

    /// Restores the previous state. If that fails, prints a warning in addition to the original error.
    private func takeBack(_ folder: URL, _ wiring: Wiring, _ root: URL) {
        do {
            for file in wiring.files { try file.write(below: root) }
            if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
        } catch {
            Diagnostics.warning("not every change could be undone (\(error)); see git status")
        }
    }

    private func report(_ name: FeatureName, _ files: [TextFile]) -> String {
        """
        The feature \(name) is in Packages/Features/\(name):
        \(files.map { "  \($0.path)" }.joined(separator: "\n"))
        It is wired in Package.swift and Apps/martlet/BuiltInFeatures.swift. Try it:
          swift test --package-path Packages/Features/\(name)
          swift run martlet \(name.id) greet Ada
        """
    }
}
