import { writeFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** What became of a file of tests, in one project. */
export interface FileReport {
  path: string
  name: string
  project: string
  passed: string[]
  skipped: number
  failed: Failure[]
}

/** `test` is empty where the file failed, and none of its tests. */
export interface Failure {
  test: string
  message: string
}

export interface RunReport {
  files: FileReport[]
  /**
   * Errors of the run that failed no test. Vitest knows which file ran then, and not whose they are: where that file
   * failed by itself, they are taken as its own.
   */
  unhandled: string[]
}

/**
 * Writes what became of a run to the file `CI_REPORT`. Vitest's own JSON tells neither the project of a file nor an
 * unhandled error, nor why the hook of a suite failed.
 */
export default class Report implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly Thrown[]): void {
    const files = modules.map(ofFile)
    const failedBy = (path?: string) => files.some((file) => file.path === path && file.failed.length > 0)
    const strays = errors.filter(({ VITEST_TEST_PATH }) => !failedBy(VITEST_TEST_PATH))
    const report: RunReport = { files, unhandled: strays.map(({ message }) => oneLine(message)) }
    writeFileSync(process.env['CI_REPORT']!, JSON.stringify(report))
  }
}

/** The first line of a text that has one, without control characters, at most 200 characters long. */
export function oneLine(text: string): string {
  const lines = stripVTControlCharacters(text).split(/[\r\n\u2028\u2029]/)
  return Array.from(lines.map((line) => line.replace(/\p{C}/gu, '').trim()).find(Boolean) ?? '')
    .slice(0, 200)
    .join('')
}

type Thrown = { message: string; VITEST_TEST_PATH?: string }

function ofFile(module: TestModule): FileReport {
  const tests = [...module.children.allTests()]
  const inState = (...states: string[]) => tests.filter((test) => states.includes(test.result().state))
  const suites = [module, ...module.children.allSuites()]
  const failed = [
    ...suites.flatMap((suite) => suite.errors().map((error) => failure('', error))),
    ...inState('failed').map((test) => failure(nameOf(test), test.result().errors?.[0])),
    // The process was gone before they ended.
    ...inState('pending').map((test) => failure(nameOf(test), { message: 'it did not end' })),
  ]
  if (failed.length === 0 && !['passed', 'skipped'].includes(module.state()))
    failed.push(failure('', { message: `the file is ${module.state()}` }))
  return {
    path: module.moduleId,
    name: module.relativeModuleId,
    project: module.project.name,
    passed: inState('passed').map(nameOf),
    skipped: inState('skipped').length,
    failed,
  }
}

function failure(test: string, error: Thrown | undefined): Failure {
  return { test, message: oneLine(error?.message ?? '') }
}

function nameOf({ fullName }: TestCase): string {
  return oneLine(fullName.replace(/\s+/g, ' '))
}
