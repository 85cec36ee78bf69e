// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ProcessKit",
    products: [.library(name: "ProcessKit", targets: ["ProcessKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../LoopKit")],
    targets: [
        .target(name: "CProcessKit"),
        .target(
            name: "ProcessKit",
            dependencies: [
                "CProcessKit", .product(name: "Core", package: "Core"), .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .testTarget(
            name: "ProcessKitTests", dependencies: ["ProcessKit", .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
