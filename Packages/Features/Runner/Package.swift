// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")
let expressionKit: Target.Dependency = .product(name: "ExpressionKit", package: "ExpressionKit")

let package = Package(
    name: "Runner",
    products: [
        .library(name: "Runner", targets: ["Bundles", "RunReports", "Runner", "Runs"])
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"),
        .package(path: "../../Kits/ExpressionKit"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/HTTPKit"), .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/ProcessKit"), .package(path: "../../Kits/SandboxKit"),
        .package(path: "../../Kits/StorageKit"), .package(path: "../../Kits/TerminalKit"),
        .package(path: "../../Kits/YAMLKit"), .package(path: "../../Frontends/Host"),
    ],
    targets: [
        .target(
            name: "Bundles",
            dependencies: [
                core, expressionKit, .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "YAMLKit", package: "YAMLKit"),
            ]),
        .target(
            name: "Runs",
            dependencies: [
                "Bundles", core, expressionKit, .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .target(
            name: "RunReports",
            dependencies: ["Runs", core, .product(name: "TerminalKit", package: "TerminalKit")]),
        .target(
            name: "Runner",
            dependencies: [
                "Bundles", "RunReports", "Runs", core, expressionKit,
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
                .product(name: "StorageKit", package: "StorageKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
        .testTarget(name: "BundlesTests", dependencies: ["Bundles", core, expressionKit]),
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
                "Bundles", "Runs", core, expressionKit, .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "StorageKit", package: "StorageKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
