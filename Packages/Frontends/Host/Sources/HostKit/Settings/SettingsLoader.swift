import Capabilities
import FileKit
import Glibc
import JSON
public import Registry
import Settings

/// Finds the settings files and reads them.
struct SettingsLoader {
    /// People write settings files by hand; a larger file is not a settings file.
    static let largestFile = 4 << 20
    static let fileName = "config.json"
    static let projectFolder = ".martlet"
    /// The variable that moves all our files into one folder.
    static let homeVariable = "MARTLET_HOME"
    /// The prefix of the variables that set inputs of a bundle.
    private static let inputPrefix = "MARTLET_INPUT_"

    let locations: Locations
    /// The possible project settings files in the current folder and above it, the nearest first.
    private let projectFiles: [String]
    private let environment: [String: String]
    private let catalogue: SettingsCatalogue
    private var problems: [SettingsProblem] = []

    /// - Parameter current: the folder of the command; nil for that of the process.
    init(environment: [String: String], catalogue: SettingsCatalogue, current: String? = nil) {
        self.environment = environment
        self.catalogue = catalogue
        let directories = Directories(application: "martlet", override: Self.homeVariable, environment: environment)
        let current = current ?? Self.currentFolder()
        projectFiles = Self.projectFiles(above: current, home: environment["HOME"])
        do {
            locations = Locations(
                current: current, config: try directories.config, systemConfig: directories.systemConfig,
                project: projectFiles.first(where: Files.exists), data: try directories.data,
                state: try directories.state, cache: try directories.cache)
        } catch {
            locations = Locations(current: current, config: "", data: "", state: "", cache: "")
            problems.append(SettingsProblem(origin: .builtIn, message: error.message))
        }
    }

    /// The present state of all settings files, including those that do not exist.
    func marks() -> SettingsMarks {
        let own = locations.config.isEmpty ? [] : [locations.userFile]
        let trust = ProjectTrust(state: locations.state)
        return SettingsMarks(of: locations.systemFiles + own + projectFiles + trust.files)
    }

    /// - Parameter more: settings that take precedence over those of files.
    func load(flags: [String], adding more: [SettingsLayer] = []) -> Settings {
        var found = problems
        var layers: [SettingsLayer] = []
        for path in locations.systemFiles.reversed() {
            read(.system(file: path), path, &layers, &found)
        }
        if !locations.config.isEmpty {
            let path = locations.userFile
            read(.user(file: path), path, &layers, &found)
        }
        if let path = locations.project {
            read(.project(file: path), path, &layers, &found)
        }
        layers += more
        let inputs = environment.keys.filter { $0.hasPrefix(Self.inputPrefix) }
        let variables = SettingsVariables(
            environment: environment, catalogue: catalogue,
            reserved: Set(catalogue.variables.keys).union(inputs).union([Self.homeVariable]))
        var overrides = variables.layers
        found += variables.problems
        for flag in flags {
            do { overrides.append(try SettingsFlags.layer(flag, catalogue: catalogue)) } catch { found.append(error) }
        }
        let trust = ProjectTrust(state: locations.state)
        return Settings(
            merging: layers, overrides: overrides, catalogue: catalogue, problems: found,
            unknownVariables: variables.unknown, isTrusted: trust.trusts)
    }

    private func read(
        _ origin: SettingsOrigin, _ path: String, _ layers: inout [SettingsLayer], _ problems: inout [SettingsProblem]
    ) {
        do {
            let text = try Files.read(path, limit: Self.largestFile)
            layers.append(try SettingsLayer(origin: origin, text: text))
        } catch let problem as SettingsProblem {
            problems.append(problem)
        } catch let error as FileError where error.kind == .notFound {
            return
        } catch {
            problems.append(SettingsProblem(origin: origin, message: (error as? FileError)?.message ?? "\(error)"))
        }
    }

    private static func currentFolder() -> String {
        guard let path = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Each `.martlet/config.json` from this folder upwards. The home folder does not count as a project.
    private static func projectFiles(above folder: String, home: String?) -> [String] {
        var files: [String] = []
        var folder = folder
        while folder.count > 1, folder != home {
            files.append("\(folder)/\(projectFolder)/\(fileName)")
            folder = PathParts(folder).folder
        }
        return files
    }
}

extension Locations {
    /// The machine's settings, the strongest first.
    var systemFiles: [String] { systemConfig.map { $0 + "/" + SettingsLoader.fileName } }

    /// The person's settings.
    var userFile: String { config + "/" + SettingsLoader.fileName }

    /// The project's settings, which may not exist.
    var projectFile: String { project ?? "\(current)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)" }
}

extension Host {
    /// All ignored settings, one sentence for each feature.
    var absences: [String] { Set(settings.ignored.map(\.feature)).sorted().map(absence) }

    /// A sentence saying that the settings of a feature that is not in this build are ignored.
    public func absence(of feature: String) -> String {
        let origins = settings.ignored.filter { $0.feature == feature }.map(\.origin.words)
        let places = origins.enumerated().filter { !origins[..<$0.offset].contains($0.element) }.map(\.element)
        return "the settings of \(feature) in \(places.joined(separator: ", ")) are ignored, because \(feature) "
            + (catalogue.absent[feature] ?? "is not in this build")
    }
}
