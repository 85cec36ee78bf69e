// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

let package = Package(
    name: "Runner",
    products: [
        .library(name: "Runner", targets: ["Bundles", "Expressions", "RunReports", "Runner", "Runs"])
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/HTTPKit"), .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/ProcessKit"), .package(path: "../../Kits/SandboxKit"),
        .package(path: "../../Kits/StorageKit"), .package(path: "../../Kits/TerminalKit"),
        .package(path: "../../Kits/YAMLKit"), .package(path: "../../Frontends/Host"),
    ],
    targets: [
        .target(name: "Expressions", dependencies: [core]),
        .target(
            name: "Bundles",
            dependencies: [
                "Expressions", core, .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "YAMLKit", package: "YAMLKit"),
            ]),
        .target(
            name: "Runs",
            dependencies: [
                "Bundles", "Expressions", core, .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .target(
            name: "RunReports",
            dependencies: ["Runs", core, .product(name: "TerminalKit", package: "TerminalKit")]),
        .target(
            name: "Runner",
            dependencies: [
                "Bundles", "Expressions", "RunReports", "Runs", core,
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
                .product(name: "StorageKit", package: "StorageKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
        .testTarget(name: "BundlesTests", dependencies: ["Bundles", "Expressions", core]),
        .testTarget(
            name: "RunReportsTests",
            dependencies: [
                "RunReports", "Runs", core, .product(name: "CoreTesting", package: "Core"),
                .product(name: "HTTPTesting", package: "HTTPKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
        .testTarget(
            name: "RunnerTests",
            dependencies: [
                "Bundles", "Runner", "Runs", core, .product(name: "CoreTesting", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HostKit", package: "Host"),
                .product(name: "HostTesting", package: "Host"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPTesting", package: "HTTPKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .testTarget(
            name: "RunsTests",
            dependencies: [
                "Bundles", "Expressions", "Runs", core, .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .testTarget(
            name: "ExpressionsTests",
            dependencies: ["Expressions", core, .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
