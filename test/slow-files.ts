import type { Reporter, TestModule } from 'vitest/node'

const longest = 10_000

/**
 * Fails a run of the first tier in which a file takes more than ten seconds: it belongs to the second (tiers.ts), or can
 * be made quicker. Where the machine is slow or busy, all files are slower, and so is the one in the middle.
 */
export class SlowFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .filter(({ project }) => project.name !== 'unit')
      .map((module) => ({ name: module.relativeModuleId, took: module.diagnostic().duration }))
      .toSorted((a, b) => a.took - b.took)
    if (files.length < 50) return
    const limit = Math.max(longest, usual * files[Math.floor(files.length / 2)]!.took)
    const slow = files.filter(({ took }) => took > limit)
    for (const { name, took } of slow)
      console.error(`${name} takes ${Math.round(took / 1000)} s; files of the first tier may take ${limit / 1000} s`)
    if (slow.length > 0) process.exitCode = 1
  }
}
const usual = 10
