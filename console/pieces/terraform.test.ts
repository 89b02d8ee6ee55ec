import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Sent } from '../api/sent.ts'
import { quote, terraformOf } from './terraform.ts'

const hasTerraform = spawnSync('terraform', ['version'], { timeout: 20_000 }).status === 0

const sent = (method: string, request: object): Sent =>
  ({ method, request, options: { organization: '77' } }) as unknown as Sent

const evil = `O'Neill \${file("/x")} %{ if true } "quoted" \\ \\back \b\f\n\t$\${twice} é 🦊`

test('an application is shown as the resource that makes it, with what the provider lacks as a remark', () => {
  const request = {
    projectId: '5',
    name: 'Web shop',
    redirectUris: ['https://a.example/cb'],
    devMode: true,
    firstParty: true,
  }
  expect(terraformOf(sent('roster.grants.v1.ApplicationService/AddOIDCApplication', request))).toBe(
    `resource "zitadel_application_oidc" "web_shop" {
  org_id         = "77"
  redirect_uris  = ["https://a.example/cb"]
  response_types = ["OIDC_RESPONSE_TYPE_CODE"]
  grant_types    = ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"]
  project_id     = "5"
  name           = "Web shop"
  dev_mode       = true
  # The provider has no first_party.
}`,
  )
})

test('a person is shown flat, and without a password', () => {
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const request = {
    userName: '9 lives!',
    profile,
    email: { email: 'ada@example.com', isVerified: true },
    password: 'secret',
  }
  const text = terraformOf(sent('roster.users.v1.UserService/AddHumanUser', request))!
  expect(text).toContain('resource "zitadel_human_user" "lives" {')
  expect(text).toMatch(/first_name +.. "Ada"/)
  expect(text).toMatch(/is_email_verified = true/)
  expect(text).not.toContain('secret')
})

test('what the provider has no kind for has no lines', () => {
  expect(terraformOf(sent('roster.grants.v1.ProjectService/UpdateProject', { name: 'x' }))).toBeUndefined()
})

test('nothing in a text is an interpolation, and it holds no raw control character', () => {
  expect(quote('${a}%{b}"\\\b\f\n')).toBe('"$${a}%%{b}\\"\\\\\\u0008\\u000c\\n"')
})

test.skipIf(!hasTerraform)(
  `Terraform reads each text as it was sent${hasTerraform ? '' : ' (skipped: no terraform)'}`,
  () => {
    const text = terraformOf(sent('roster.grants.v1.ProjectService/AddProject', { name: evil }))!
    expect(execFileSync('terraform', ['fmt', '-'], { input: `${text}\n`, timeout: 60_000 }).toString()).toBe(
      `${text}\n`,
    )
    const folder = mkdtempSync(join(tmpdir(), 'roster-hcl-'))
    try {
      writeFileSync(join(folder, 'main.tf'), `locals {\n  name = ${quote(evil)}\n}\n`)
      const read = execFileSync('terraform', [`-chdir=${folder}`, 'console'], {
        input: 'jsonencode(local.name)\n',
        timeout: 60_000,
      })
      expect(JSON.parse(JSON.parse(read.toString()))).toBe(evil)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
