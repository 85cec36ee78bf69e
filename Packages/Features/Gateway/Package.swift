// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")
let cryptography: Target.Dependency = .product(name: "Cryptography", package: "Cryptography")
let fileKit: Target.Dependency = .product(name: "FileKit", package: "FileKit")
let loopKit: Target.Dependency = .product(name: "LoopKit", package: "LoopKit")
let modelKit: Target.Dependency = .product(name: "ModelKit", package: "ModelKit")
let planner: Target.Dependency = .product(name: "OfflinePlanner", package: "ModelKit")
let processKit: Target.Dependency = .product(name: "ProcessKit", package: "ProcessKit")
let sandboxKit: Target.Dependency = .product(name: "SandboxKit", package: "SandboxKit")
let server: Target.Dependency = .product(name: "HTTPServer", package: "HTTPKit")
let storageKit: Target.Dependency = .product(name: "StorageKit", package: "StorageKit")
let toolKit: Target.Dependency = .product(name: "ToolKit", package: "ToolKit")
let traceKit: Target.Dependency = .product(name: "TraceKit", package: "TraceKit")

/// What tests use of the packages below.
let testing: [Target.Dependency] = [
    core, .product(name: "CoreTesting", package: "Core"), .product(name: "TestTraits", package: "Core"), cryptography,
    fileKit, .product(name: "GatewayKit", package: "GatewayKit"),
    .product(name: "HTTPKit", package: "HTTPKit"), server, .product(name: "HTTPTesting", package: "HTTPKit"), loopKit,
    modelKit, planner, processKit, sandboxKit, storageKit, toolKit, traceKit,
]

let package = Package(
    name: "Gateway",
    products: [
        .library(
            name: "Gateway", targets: ["Gateway", "GatewayAPI", "GatewayModels", "GatewayStore", "GatewayTurns"])
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/GatewayKit"), .package(path: "../../Kits/HTTPKit"),
        .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/ModelKit"), .package(path: "../../Kits/ProcessKit"),
        .package(path: "../../Kits/SandboxKit"), .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Kits/ToolKit"), .package(path: "../../Kits/TraceKit"),
    ],
    targets: [
        .target(name: "GatewayStore", dependencies: [core, modelKit, processKit, storageKit]),
        .target(
            name: "GatewayModels", dependencies: [core, fileKit, loopKit, modelKit, processKit, sandboxKit, toolKit]),
        .target(name: "GatewayTurns", dependencies: ["GatewayModels", "GatewayStore", core, modelKit, toolKit]),
        .target(
            name: "GatewayAPI",
            dependencies: ["GatewayStore", "GatewayTurns", core, modelKit, server, toolKit, traceKit]),
        .target(
            name: "Gateway",
            dependencies: [
                "GatewayAPI", "GatewayModels", "GatewayStore", "GatewayTurns", core, cryptography, fileKit,
                .product(name: "HTTPKit", package: "HTTPKit"), loopKit, modelKit, processKit, sandboxKit,
                server, storageKit, toolKit, traceKit,
            ]),
        .testTarget(name: "GatewayStoreTests", dependencies: ["GatewayStore"] + testing),
        .testTarget(name: "GatewayModelsTests", dependencies: ["GatewayModels"] + testing),
        .testTarget(
            name: "GatewayTurnsTests", dependencies: ["GatewayModels", "GatewayStore", "GatewayTurns"] + testing),
        .testTarget(
            name: "GatewayAPITests",
            dependencies: ["GatewayAPI", "GatewayModels", "GatewayStore", "GatewayTurns"] + testing),
        .testTarget(
            name: "GatewayTests",
            dependencies: ["Gateway", "GatewayAPI", "GatewayModels", "GatewayStore", "GatewayTurns"] + testing),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
