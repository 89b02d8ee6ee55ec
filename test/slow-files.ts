import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'
import { longest } from './tiers.ts'

/** Milliseconds that a file may always take. */
const enough = 10_000
/** Beyond that, a file may take as many times as long as the one in the middle. It has its servers beside two others. */
const timesTheMiddle = 20

/**
 * Fails a run of the first tier in which a file takes far longer than others: it belongs to the second (tiers.ts), or can
 * be made quicker. A machine that is slow or busy is so for every file.
 */
export class SlowFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .filter(({ project }) => project.name !== 'unit')
      .map((module) => ({ name: module.relativeModuleId, took: module.diagnostic().duration }))
      .toSorted((a, b) => a.took - b.took)
    // A run of a few files has no middle.
    if (files.length < 50) return
    const limit = Math.max(enough, timesTheMiddle * files[Math.floor(files.length / 2)]!.took)
    const slow = files.filter(({ took }) => took > limit)
    for (const { name, took } of slow)
      console.error(
        `${name} takes ${seconds(took)}; a file of the first tier may take ${seconds(limit)}: test/tiers.ts`,
      )
    if (slow.length > 0) process.exitCode = 1
  }
}

/** Starts the longest files of each group first, so that none runs alone at its end. A fresh clone knows no times. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(name))
      return found < 0 ? longest.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1000)} s`
