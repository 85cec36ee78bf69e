// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

let package = Package(
    name: "Runner",
    products: [.library(name: "RunnerFrontend", targets: ["Bundles", "Expressions", "Runs"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/ProcessKit"), .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Kits/YAMLKit"),
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
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .testTarget(name: "BundlesTests", dependencies: ["Bundles", "Expressions", core]),
        .testTarget(
            name: "RunsTests",
            dependencies: ["Bundles", "Expressions", "Runs", core, .product(name: "FileKit", package: "FileKit")]),
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
