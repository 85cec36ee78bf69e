// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ToolKit",
    products: [.library(name: "ToolKit", targets: ["ToolKit"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../FileKit"), .package(path: "../LoopKit"),
        .package(path: "../PatternKit"), .package(path: "../ProcessKit"), .package(path: "../SandboxKit"),
    ],
    targets: [
        .target(name: "CToolKit"),
        .target(
            name: "ToolKit",
            dependencies: [
                "CToolKit", .product(name: "Core", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "PatternKit", package: "PatternKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
            ]),
        .testTarget(
            name: "ToolKitTests",
            dependencies: [
                "ToolKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "PatternKit", package: "PatternKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
