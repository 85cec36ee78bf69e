import Foundation

/// The texts of a minimal host: a manifest, a main file, and a feature of one's own if there is one.
struct HostPackage {
    private let request: Request
    private let checkout: String

    init(_ request: Request, checkout: String) {
        self.request = request
        self.checkout = checkout
    }

    var files: [TextFile] {
        var files = [
            TextFile(path: "Package.swift", text: manifest),
            TextFile(path: "Sources/\(request.name)/main.swift", text: main),
            TextFile(path: ".gitignore", text: ".build/\n"),
        ]
        if let own = request.own {
            files.append(TextFile(path: "Sources/\(request.name)/\(own)Feature.swift", text: feature(own)))
        }
        return files
    }

    private var manifest: String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let martlet = "\(checkout)"

        let package = Package(
            name: "\(request.name)",
            dependencies: [
                .package(path: "\\(martlet)/Packages/Core"),
                .package(path: "\\(martlet)/Packages/Frontends/CommandLine"),
        \(request.features.map { "        .package(path: \"\\(martlet)/Packages/Features/\($0)\"),\n" }.joined())\
            ],
            targets: [
                .executableTarget(
                    name: "\(request.name)",
                    dependencies: [
                        .product(name: "Core", package: "Core"),
                        .product(name: "CommandLineFrontend", package: "CommandLine"),
        \(request.features.map { "                .product(name: \"\($0)\", package: \"\($0)\"),\n" }.joined())\
                    ])
            ]
        )

        """
    }

    private var main: String {
        let modules = ["CommandLineFrontend", "Glibc", "Registry"] + request.features
        let features = request.features + (request.own.map { [$0] } ?? [])
        return """
            \(modules.sorted().map { "import \($0)" }.joined(separator: "\n"))

            let program = CommandLineProgram(
                name: "\(request.name)", version: "0.1.0",
                features: [
            \(features.map { "        BuiltInFeature(\($0)Feature.self),\n" }.joined())\
                ])
            exit(program.run(CommandLine.arguments))

            """
    }

    private func feature(_ own: String) -> String {
        let id = own.lowercased()
        return """
            import Registry
            import Settings

            /// Greets people. What else a feature can have is in the README of the checkout.
            struct \(own)Feature: Feature {
                static let manifest = Manifest(id: "\(id)", summary: "Greet people", version: "0.1.0")

                init(_ settings: FeatureSettings) {}

                func register(in registry: inout RegistryBuilder) {
                    registry.add(
                        Action("\(id).greet", "Greet a person", .reads, .argument("name", "The person to greet")) { _, name in
                            "Hello \\(name)!"
                        })
                }
            }

            """
    }
}

/// The build of the new host: a SwiftPM of its own, because the one that runs this plugin builds this checkout only.
struct HostBuild {
    private let request: Request
    private let checkout: String
    private let swift: URL

    init(_ request: Request, checkout: String, swift: URL) {
        self.request = request
        self.checkout = checkout
        self.swift = swift
    }

    private var configuration: String { request.isDebug ? "debug" : "release" }
    private var arguments: [String] {
        [
            "build", "--package-path", request.folder.path, "--scratch-path", request.objects.path,
            "--configuration", configuration,
            // Editors make their own.
            "--disable-index-store",
        ] + (request.isDebug ? [] : small)
    }
    /// One file with the runtime in it and without what is never called, linked as the checkout links its own program.
    private var small: [String] {
        let compiler = ["-use-ld=lld", "-L\(checkout)/Apps/link", "-Xclang-linker", "-static-libgcc"]
        let linker = ["--gc-sections", "--no-export-dynamic"]
        return ["--static-swift-stdlib", "--disable-local-rpath"] + compiler.flatMap { ["-Xswiftc", $0] }
            + linker.flatMap { ["-Xlinker", $0] }
    }

    /// The command as a person would type it.
    var words: String { (["swift"] + arguments).joined(separator: " ") }
    /// Where the program is after the build.
    var program: String { request.objects.appending(path: "\(configuration)/\(request.name)").path }

    func run() throws {
        let process = Process()
        process.executableURL = swift
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Refusal("the build failed, see above; the files are in \(request.folder.path)")
        }
    }
}
