import Foundation

/// The template of a feature package, named Weather. A new feature differs only in that name.
struct FeatureTemplate {
    private let folder: URL

    init(_ folder: URL) {
        self.folder = folder
    }

    /// The files of the package with another name.
    func files(for name: FeatureName) throws -> [TextFile] {
        let rename = { (text: String) in
            text.replacingOccurrences(of: "Weather", with: name.description)
                .replacingOccurrences(of: "weather", with: name.id)
        }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { path in
            let source = folder.appending(path: path)
            guard try source.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return nil }
            return TextFile(path: rename(path), text: rename(try TextFile(path: path, in: folder).text))
        }
    }
}
