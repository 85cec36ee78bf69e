import CoreTesting
import FileKit
import Testing
import WorkspaceSupport

@Test("Every manifest names the same tools and ends with the same settings")
func manifestsAgree() throws {
    let workspace = Workspace.current
    let root = try #require(HouseSettings(try workspace.text("Package.swift")))
    let manifests = try ["Packages", "Plugins", "Tests", "Apps"].flatMap { folder in
        try workspace.files(in: folder, ending: "/Package.swift")
    }
    #expect(manifests.count >= 6)
    for manifest in manifests {
        #expect(HouseSettings(try workspace.text(manifest)) == root, "\(manifest) differs from the root manifest")
    }
}

@Test("Settings that differ in a single flag are distinguished")
func tellsSettingsApart() throws {
    let text = try Workspace.current.text("Package.swift")
    let weaker = text.split(separator: "\n").filter { !$0.contains(".strictMemorySafety()") }.joined(separator: "\n")
    #expect(HouseSettings(text) != HouseSettings(weaker))
    #expect(HouseSettings("let package = Package(name: \"bare\")") == nil)
}

@Test("Every package has a README that describes what it offers")
func packagesHaveREADME() throws {
    for package in try Workspace.current.packages() {
        #expect(
            Files.exists("\(Workspace.current.root)/\(package.folder)/README.md"), "\(package.folder) has no README.md")
    }
}

@Test(
    "Every feature package is listed in the root manifest and in the executable, and nothing else is"
)
func featuresAreListed() throws {
    let workspace = Workspace.current
    let packages = try workspace.packages().filter { Layer($0) == .feature }.map(\.name).sorted()
    let listed = try workspace.text("Apps/martlet/BuiltInFeatures.swift")
    #expect(try workspace.features() == packages)
    // A frontend that a build may leave out is included by a trait as well.
    let frontends = try workspace.frontends()
    #expect(!frontends.isEmpty)
    for pattern in [/BuiltInFeature\(\s*trait: "(\w+)"/, /(?m)^#if (\w+)$/] {
        let traits = listed.matches(of: pattern).map { String($0.output.1) }
        #expect(traits == (packages + frontends.map(\.trait)).sorted())
    }
    let imports = listed.matches(of: /(?m)^    import (\w+)$/).map { String($0.output.1) }
    #expect(imports.sorted() == (packages + frontends.map(\.module)).sorted())
}

@Test(
    "make refuses a checkout in a folder that has the name of a package",
    arguments: ["auth", "Core", "martlet", "host2"])
func folderName(name: String) async throws {
    try await TemporaryDirectory.run { folder in
        try Files.makeDirectories("\(folder)/\(name)")
        let shell = Shell(in: "\(folder)/\(name)")
        for entry in ["Makefile", "Packages"] {
            try await shell.run("ln", "-s", "\(Workspace.current.root)/\(entry)", entry)
        }
        let outcome = try await shell.outcome(["make", "help"])
        let isPackage = ["auth", "Core"].contains(name)
        #expect(outcome.code == (isPackage ? 2 : 0))
        #expect(outcome.errors.contains("this folder is called '\(name)'") == isPackage)
    }
}

@Test("Every question that an action asks is listed in its help")
func questionsAreListed() throws {
    let workspace = Workspace.current
    var (asked, listed): (Set<String>, Set<String>) = ([], [])
    for file in try workspace.files(in: "Packages", ending: ".swift") where file.contains("/Sources/") {
        let text = try workspace.text(file)
        let questions = /nteraction\.(?:text|secret|choice|confirm|composition)\(\s*"([a-z.-]+)"/
        asked.formUnion(text.matches(of: questions).map { String($0.output.1) })
        listed.formUnion(text.matches(of: /\bquestion\("([a-z.-]+)"/).map { String($0.output.1) })
    }
    // Whether a certificate is trusted can be answered nowhere but on a terminal.
    #expect(asked.subtracting(listed) == ["auth.trust"])
}

/// What all manifests have in common: the first line, and everything from the loop over the targets on.
private struct HouseSettings: Equatable {
    let tools: Substring?
    let loop: Substring

    init?(_ manifest: String) {
        guard let start = manifest.firstRange(of: "\nfor target in package.targets")?.lowerBound else { return nil }
        tools = manifest.split(separator: "\n").first
        loop = manifest[start...]
    }
}
