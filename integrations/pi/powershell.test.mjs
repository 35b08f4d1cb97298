// Which PowerShell commands are blocked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guard } from '../../js/tools.mjs'
import { powershellGuard } from './powershell.js'

const NAMES = { read: 'read', search: 'search', apply: 'apply_hash' }
const check = (/** @type {string} */ text) => powershellGuard(text, { names: NAMES, guard })

test('cmdlets that read or write files are blocked wherever a command may start', () => {
  /** @type {[string, RegExp][]} */
  const cases = [
    [
      'Get-Content a.txt',
      /^Blocked: .*\n`Get-Content` reads `a\.txt`: use the tool `read` instead/,
    ],
    ['get-content -Path "a b.txt" -TotalCount 5', /reads `a b\.txt`/],
    ['gc -Tail 5 a.txt', /reads `a\.txt`/],
    ['cat a.txt', /`cat` reads `a\.txt`/],
    ["type 'it''s.txt'", /reads `it's\.txt`/],
    ['$x = Get-Content a.txt', /reads `a\.txt`/],
    ['[string]$x = gc a.txt', /reads/],
    ['(Get-Content a.txt) -replace "a", "b" | Set-Content a.txt', /reads[\s\S]*writes `a\.txt`/],
    ['ls *.txt | ForEach-Object { gc $_ }', /reads `\$_`/],
    ['ls *.txt | Get-Content', /reads a file/],
    ['cd app; Get-Content `\n  a.txt', /reads `a\.txt`/],
    ["& 'Get-Content' a.txt", /reads/],
    ['Microsoft.PowerShell.Management\\Get-Content a.txt', /reads/],
    ['if (Test-Path a) { Get-Content a }', /reads `a`/],
    ['Write-Output "$(1)" ; gc C:\\x\\a.txt', /reads `C:\\x\\a\.txt`/],
    ['Select-String foo a.txt', /searches `a\.txt`: use the tool `search`/],
    ['sls -Pattern foo -Path a.txt', /searches/],
    ['Set-Content a.txt "x"', /`Set-Content` writes `a\.txt`: use the tool `apply_hash`/],
    ['"x" | Out-File -FilePath a.txt', /writes `a\.txt`/],
    ['Add-Content -Value x -Path a.txt', /writes `a\.txt`/],
    ['sc a.txt x', /writes/],
    ['dir | Tee-Object out.txt', /writes `out\.txt`/],
    ['Write-Output x > out.txt', /The output of `Write-Output` is written to `out\.txt`/],
    ['echo x >> a.txt', /written to `a\.txt`/],
    ["@'\nx\n'@ > a.txt", /written to `a\.txt`/],
    ['sed -i s/a/b/ a.txt', /`sed`[\s\S]*apply_hash/],
    ['grep x a.txt', /search/],
  ]
  for (const [text, reason] of cases) assert.match(check(text) ?? 'allowed', reason, text)
})

test('other commands run', () => {
  for (const text of [
    '',
    'npm test',
    'npm test > $null 2>&1',
    'npm test > out.txt',
    'dir > out.txt',
    'npm test 2>> err.log',
    'echo x > $env:TEMP\\a.txt',
    'npm test *> $null',
    'dir | Select-String foo',
    'npm test 2>&1 | Tee-Object -Variable out',
    'Write-Output "Get-Content a.txt > b"',
    "echo 'gc a.txt'",
    "@'\nGet-Content a.txt\n'@",
    'git commit -m "a > b"',
    'git commit -m "say `"type x`" > y"',
    '# Get-Content a.txt',
    '<# gc a > b #> ls',
    '$a = @{ type = "x"; cat = 1 }',
    'if ($a -gt 3) { ls }',
    'sc query',
    'sc \\\\server query',
    'Get-Content Env:PATH',
    'Get-ChildItem -Filter cat',
    'Get-Help Get-Content',
    "$s.Replace('type', 'cat')",
    `${'('.repeat(60_000)}`,
    `"${'`'.repeat(60_000)}`,
  ]) {
    assert.equal(check(text), undefined, text.slice(0, 80))
  }
})
