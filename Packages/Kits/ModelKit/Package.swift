// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

/// What tests use of the packages below: real HTTP for the vendors' own libraries, and real tools for the planner.
let testing: [Target.Dependency] = [
    core, .product(name: "CoreTesting", package: "Core"), .product(name: "FileKit", package: "FileKit"),
    .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
    .product(name: "HTTPTesting", package: "HTTPKit"), .product(name: "ToolKit", package: "ToolKit"),
]

let package = Package(
    name: "ModelKit",
    products: [
        .library(
            name: "ModelKit",
            targets: ["ModelKit", "OpenAIDialect", "AnthropicDialect", "ResponsesDialect", "TurnLoop"]),
        .library(name: "OfflinePlanner", targets: ["OfflinePlanner"]),
        .library(name: "DialectTesting", targets: ["DialectTesting"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../FileKit"), .package(path: "../HTTPKit"),
        .package(path: "../ToolKit"),
    ],
    targets: [
        .target(name: "ModelKit", dependencies: [core]),
        .target(name: "OpenAIDialect", dependencies: ["ModelKit", core]),
        .target(name: "AnthropicDialect", dependencies: ["ModelKit", core]),
        .target(name: "ResponsesDialect", dependencies: ["ModelKit", core]),
        .target(name: "TurnLoop", dependencies: ["ModelKit", core]),
        .target(name: "OfflinePlanner", dependencies: ["TurnLoop", core]),
        .target(
            name: "DialectTesting",
            dependencies: [
                "ModelKit", core, .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPServer", package: "HTTPKit"), .product(name: "HTTPTesting", package: "HTTPKit"),
            ]),
        .testTarget(name: "ModelKitTests", dependencies: ["ModelKit", core]),
        .testTarget(
            name: "OpenAIDialectTests", dependencies: ["DialectTesting", "ModelKit", "OpenAIDialect"] + testing),
        .testTarget(
            name: "AnthropicDialectTests", dependencies: ["DialectTesting", "ModelKit", "AnthropicDialect"] + testing),
        .testTarget(
            name: "ResponsesDialectTests", dependencies: ["DialectTesting", "ModelKit", "ResponsesDialect"] + testing),
        .testTarget(name: "TurnLoopTests", dependencies: ["ModelKit", "TurnLoop"] + testing),
        .testTarget(name: "OfflinePlannerTests", dependencies: ["OfflinePlanner", "TurnLoop"] + testing),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
