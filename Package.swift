// swift-tools-version: 6.2
import PackageDescription

/// One line per feature: its trait, its folder in Packages/Features and its product have this name.
let features: [String] = [
    // Sorted; `make feature NAME=Weather` adds a line.
    "Audit",
    "Auth",
    "Chat",
    "Gateway",
    "MCP",
    "OfflineModel",
    "Runner",
    "SSH",
    "Trace",
]

/// The modules with tests of their own, for features that have more than one.
let modules: [String: [String]] = [
    "Auth": ["AuthVault", "AuthTrust", "AuthSignIn", "Auth"], "Chat": ["ChatHistory", "ChatProviders", "Chat"],
    "Gateway": ["GatewayStore", "GatewayModels", "GatewayTurns", "GatewayAPI", "Gateway"],
    "MCP": ["MCPServers", "MCP"],
    "Runner": ["Bundles", "Runs", "RunReports", "Runner"],
]

/// The packages that every build has, with their products and the names of their test targets.
let base: [(name: String, path: String, products: [String], tests: [String])] = [
    ("Core", "Packages/Core", ["Core", "CoreTesting"], ["JSON", "Capabilities", "Settings", "Screens", "Registry"]),
    ("ExpressionKit", "Packages/Kits/ExpressionKit", ["ExpressionKit"], ["ExpressionKit"]),
    ("FileKit", "Packages/Kits/FileKit", ["FileKit"], ["FileKit"]),
    ("LoopKit", "Packages/Kits/LoopKit", ["LoopKit"], ["LoopKit"]),
    ("Cryptography", "Packages/Kits/Cryptography", ["Cryptography"], ["Cryptography"]),
    (
        "HTTPKit", "Packages/Kits/HTTPKit", ["HTTPKit", "HTTPServer", "HTTPTesting"],
        ["HTTPCore", "HTTPClient", "HTTPServer"]
    ),
    ("GatewayKit", "Packages/Kits/GatewayKit", ["GatewayKit", "GatewayTesting"], ["GatewayKit"]),
    (
        "KamiwazaKit", "Packages/Kits/KamiwazaKit", ["KamiwazaKit", "KamiwazaTesting"], ["KamiwazaKit"]
    ),
    ("MCPKit", "Packages/Kits/MCPKit", ["MCPKit", "MCPTesting"], ["MCPKit"]),
    (
        "ModelKit", "Packages/Kits/ModelKit", ["ModelKit", "OfflinePlanner", "DialectTesting"],
        ["ModelKit", "OpenAIDialect", "AnthropicDialect", "ResponsesDialect", "TurnLoop", "OfflinePlanner"]
    ),
    ("PatternKit", "Packages/Kits/PatternKit", ["PatternKit"], ["PatternKit"]),
    ("ProcessKit", "Packages/Kits/ProcessKit", ["ProcessKit"], ["ProcessKit"]),
    ("RPCKit", "Packages/Kits/RPCKit", ["RPCKit", "RPCWebSocket"], ["RPCKit", "RPCWebSocket"]),
    ("SandboxKit", "Packages/Kits/SandboxKit", ["SandboxKit"], ["SandboxKit"]),
    ("SchemaKit", "Packages/Kits/SchemaKit", ["SchemaKit"], ["SchemaKit"]),
    ("SSHKit", "Packages/Kits/SSHKit", ["SSHCore", "SSHClient", "SSHTesting"], ["SSHCore", "SSHClient"]),
    ("StorageKit", "Packages/Kits/StorageKit", ["StorageKit"], ["StorageKit"]),
    ("TerminalKit", "Packages/Kits/TerminalKit", ["TerminalKit", "TerminalTesting"], ["TerminalKit"]),
    ("ToolKit", "Packages/Kits/ToolKit", ["ToolKit"], ["ToolKit"]),
    ("TOMLKit", "Packages/Kits/TOMLKit", ["TOMLKit"], ["TOMLKit"]),
    ("TraceKit", "Packages/Kits/TraceKit", ["TraceKit"], ["TraceKit"]),
    ("YAMLKit", "Packages/Kits/YAMLKit", ["YAMLKit"], ["YAMLKit"]),
    ("Host", "Packages/Frontends/Host", ["HostKit", "HostTesting"], ["HostKit"]),
    ("CommandLine", "Packages/Frontends/CommandLine", ["CommandLineFrontend"], ["CommandLineFrontend"]),
    ("Serve", "Packages/Frontends/Serve", ["ServeFrontend", "ServeTesting"], ["ServeFrontend"]),
    ("Shell", "Packages/Frontends/Shell", ["ShellFrontend"], ["ShellFrontend"]),
]

/// The frontends that a build may leave out, by their traits, with their products.
let frontends = ["Serve": "ServeFrontend", "Shell": "ShellFrontend"]

/// What the traits of a build choose.
let chosen: [Target.Dependency] =
    features.map { .product(name: $0, package: $0, condition: .when(traits: [$0])) }
    + frontends.map { .product(name: $1, package: $0, condition: .when(traits: [$0])) }

/// What a test may use besides the product that it tests.
let baseProducts: [Target.Dependency] = base.flatMap { package in
    package.products.map { .product(name: $0, package: package.name) }
}

/// The programs of packages that their tests start, and what lies beside the tests without being one.
let programs: [String: [Target.Dependency]] = [
    "MCPKit": [.product(name: "mcp-test-server", package: "MCPKit")],
    "ServeFrontend": [.product(name: "serve-test-program", package: "Serve")],
]
let besides = ["MCPKit": ["Servers"]]

/// What only a test may use, since the testing library is not there for a static runtime.
let testProducts = baseProducts + [.product(name: "TestTraits", package: "Core")]

/// SwiftPM runs no tests of nested packages, so each test folder is a target of the root as well.
let nestedTests: [Target] =
    base.flatMap { package in
        package.tests.map { test -> Target in
            let used: [Target.Dependency] = testProducts + programs[test, default: []]
            return .testTarget(
                name: "\(test)Tests", dependencies: used, path: "\(package.path)/Tests/\(test)Tests",
                exclude: besides[test, default: []])
        }
    }
    + features.flatMap { feature in
        (modules[feature] ?? [feature]).map { module -> Target in
            .testTarget(
                name: "\(module)Tests", dependencies: testProducts + [.product(name: feature, package: feature)],
                path: "Packages/Features/\(feature)/Tests/\(module)Tests")
        }
    }

/// How the program is linked that people get, so that it starts sooner: without the names of what the runtime and we
/// export, which nobody looks up, and with the parts of libstdc++ and libgcc in it that it uses, instead of all of them
/// beside it. Only lld takes the archives in any order.
let released: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-L\(Context.packageDirectory)/Apps/link",
            "-Xclang-linker", "-static-libgcc",
        ], .when(configuration: .release))
]

let package = Package(
    name: "martlet",
    products: [.executable(name: "martlet", targets: ["martlet"])],
    traits: Set(
        [.default(enabledTraits: Set(features + frontends.keys))]
            + (features + frontends.keys).map { .trait(name: $0) }),
    dependencies: base.map { .package(path: $0.path) } + features.map { .package(path: "Packages/Features/\($0)") },
    targets: [
        .executableTarget(
            name: "martlet",
            dependencies: [
                .product(name: "Core", package: "Core"),
                .product(name: "CommandLineFrontend", package: "CommandLine"),
            ] + chosen,
            path: "Apps/martlet", linkerSettings: released),
        .executableTarget(
            name: "bench",
            dependencies: baseProducts + [
                .product(name: "Audit", package: "Audit"), .product(name: "Auth", package: "Auth"),
                .product(name: "Chat", package: "Chat"), .product(name: "Gateway", package: "Gateway"),
                .product(name: "MCP", package: "MCP"), .product(name: "Runner", package: "Runner"),
                .product(name: "Trace", package: "Trace"),
            ], path: "Apps/bench",
            exclude: ["Peers"]),
        // Features that misbehave, and those of the product as others than the person use them, for the tests of the whole
        // program.
        .executableTarget(
            name: "test-bench",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "CommandLineFrontend", package: "CommandLine"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HostKit", package: "Host"),
            ] + chosen,
            path: "Tests/TestBench"),
        .testTarget(
            name: "ProgramTests", dependencies: testProducts + ["martlet", "test-bench", "WorkspaceSupport"],
            path: "Tests/ProgramTests", exclude: ["Shell/Texts"]),
        .testTarget(
            name: "RightsTests",
            dependencies: testProducts + features.map { .product(name: $0, package: $0) }, path: "Tests/RightsTests"),
        // What users and their scripts rely on, compared with lists that are checked in.
        .testTarget(
            name: "FrozenTests",
            dependencies: testProducts + ["WorkspaceSupport"] + features.map { .product(name: $0, package: $0) },
            path: "Tests/FrozenTests", exclude: ["Lists", "Texts"]),
        .target(name: "WorkspaceSupport", dependencies: baseProducts, path: "Tests/Support"),
        .testTarget(
            name: "ArchitectureTests", dependencies: baseProducts + ["WorkspaceSupport"],
            path: "Tests/ArchitectureTests"),
        .testTarget(
            name: "PluginTests", dependencies: baseProducts + ["WorkspaceSupport"], path: "Tests/PluginTests"),
        .plugin(
            name: "new-feature",
            capability: .command(
                intent: .custom(verb: "new-feature", description: "Write a feature's package and wire it"),
                permissions: [.writeToPackageDirectory(reason: "the package is made here and listed in two files")]),
            path: "Plugins/new-feature", exclude: ["Template"]),
        .plugin(
            name: "compose",
            capability: .command(
                intent: .custom(verb: "compose", description: "Write and build a host of chosen features elsewhere")),
            path: "Plugins/compose"),
    ]
        + nestedTests
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
