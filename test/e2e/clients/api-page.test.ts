import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { projectRoot } from '../../../deploy/local/home.ts'
import { admin, ok } from '../../examples/people.ts'
import { documentLines } from '../../support/document-lines.ts'
import { call } from './encodings.ts'

const { url, adminToken } = inject('roster')
const tools = join(projectRoot, 'node_modules', '.bin')

test.each(['json', 'connect', 'grpc', 'grpc-web'])('the lines of docs/api.md run as they stand: %s', async (name) => {
  const lines = `ROSTER=${url}; TOKEN=${adminToken}\n${documentLines('api.md', name)}`
  const env = { ...process.env, PATH: `${tools}${delimiter}${process.env['PATH']}` }
  const { stdout } = await promisify(execFile)('sh', ['-euc', lines], { env, cwd: projectRoot })
  const { projectId } = JSON.parse(stdout) as { projectId: string }
  expect(ok(await call('GetProject', { projectId }, admin())).project).toMatchObject({ projectId, name: 'Shop' })
})
