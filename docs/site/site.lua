-- The documentation as a static site. Runs inside pandoc, which reads the Markdown and writes HTML with MathML:
--
--   pandoc --lua-filter docs/site/site.lua /dev/null      from the root of the tree, with SITE_OUT in the environment, and
--                                                         optionally SITE_GALLERY and SITE_REPORTS (see scripts/site)
--
-- Every Markdown file becomes a page at its own path (README.md: index.html), every public header a page of api/, and
-- every other file that a page links to is copied (pictures) or shown as text. A link that leads nowhere ends the build.

local out = os.getenv("SITE_OUT")
local gallery = os.getenv("SITE_GALLERY") -- a folder with NAME.webp of models in motion, or nil
local reports = os.getenv("SITE_REPORTS") -- a folder with NAME.html, reports of models, or nil
local made = os.getenv("SITE_MADE") -- a folder with more pages, by their paths in the tree, or nil
local files, folders = {}, {} -- of the tree: path -> true
local wanted, queue = {}, {} -- files beyond the Markdown that pages link to
local failures = 0

-- The column on the left, by purpose. Pages of docs/ that are missing here come last under "How-to guides", and those of
-- docs/howto in the order of its README.
local contents = {
  { "Start", { "README.md" } },
  {
    "Tutorials",
    {
      "docs/tutorial.md",
      "docs/python.md",
      "docs/c-api.md",
      "examples/notebooks/first-steps.md",
      "examples/notebooks/unstable-and-fixed.md",
      "examples/notebooks/particle-damper.md",
      "examples/notebooks/own-solver.md",
      "examples/notebooks/design-sweep.md",
      "examples/notebooks/couple-an-fmu.md",
    },
  },
  {
    "How-to guides",
    {
      "docs/howto/README.md",
      "docs/report.md",
      "docs/json.md",
      "docs/checkpoints.md",
      "docs/processes.md",
      "docs/mpi.md",
      "docs/plugins.md",
      "docs/fmi.md",
      "docs/ssp.md",
      "docs/mbdyn.md",
      "docs/precice.md",
      "docs/import.md",
      "docs/modal.md",
    },
  },
  {
    "Concepts",
    {
      "docs/trust.md",
      "docs/schemes.md",
      "docs/theory.md",
      "docs/rim.md",
      "docs/multibody.md",
      "docs/nonsmooth.md",
      "docs/hydraulics.md",
    },
  },
  { "Reference", { "docs/commands.md", "docs/scenario.md", "docs/python-api.md", "include/yoke", "docs/protocol.md", "docs/glossary.md", "docs/references.md" } },
  { "Evidence", { "studies/README.md", "studies/trust/README.md", "docs/performance.md", "SECURITY.md" } },
  { "Gallery", { "models/README.md" } },
  { "Development", { "docs/architecture.md", "CONTRIBUTING.md", "docs/dependencies.md", "CHANGELOG.md" } },
}

local function fail(text)
  failures = failures + 1
  io.stderr:write("site: " .. text .. "\n")
end

-- Paths ----------------------------------------------------------------------------------------

local function folder_of(path)
  return path:match("^(.*)/[^/]*$") or ""
end

-- a/b/../c -> a/c
local function normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      table.remove(parts)
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local function relative(from, to)
  local up = folder_of(from):gsub("[^/]+", ".."):gsub("/$", "")
  return (up == "" and "" or up .. "/") .. to
end

-- Where the page of a file or folder of the tree is in the site.
local function page_of(path)
  if path:match("README%.md$") then
    return (path:gsub("README%.md$", "index.html"))
  elseif path:match("%.md$") then
    return (path:gsub("%.md$", ".html"))
  elseif path == "include/yoke" then
    return "api/index.html"
  elseif path:match("^include/yoke/.*%.h$") then
    return (path:gsub("^include/yoke/(.*)%.h$", "api/%1.html"))
  elseif files[path .. "/README.md"] then
    return path .. "/index.html"
  elseif folders[path] then
    return path .. "/index.html"
  elseif path:match("%.svg$") or path:match("%.png$") or path:match("^examples/notebooks/.*%.html$") then
    return path
  end
  return path .. ".html"
end

-- Where a link of a page leads in the site; notes what has to be there for it.
local function resolve(page, source, link)
  if link:match("^%a[%w+.-]*:") or link:match("^#") then
    return link
  end
  local path, fragment = link:match("^([^#]*)(#?.*)$")
  local target = normal(folder_of(source) .. "/" .. path)
  if not files[target] and not folders[target] then
    fail(source .. ": link to " .. link .. ", which is not there")
    return link
  end
  if not wanted[target] and not target:match("%.md$") and not target:match("^examples/notebooks/.*%.html$") and not target:match("^include/yoke") then
    wanted[target] = true
    queue[#queue + 1] = target
  end
  return relative(page, page_of(target)) .. fragment
end

-- Pages ----------------------------------------------------------------------------------------

local function read(path)
  local file = io.open(path, "rb") or assert(io.open((made or ".") .. "/" .. path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = io.open(out .. "/" .. path, "wb")
  if not file then
    os.execute("mkdir -p '" .. out .. "/" .. folder_of(path) .. "'")
    file = assert(io.open(out .. "/" .. path, "wb"))
  end
  file:write(text)
  file:close()
end

local function escape(text)
  return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"):gsub('"', "&quot;"))
end

local titles = {} -- of pages in the contents

-- Pages in the order of the contents, for the links to the previous and the next one.
local sequence = {}

local function entry(page, path)
  local target = page_of(path)
  local here = target == page and ' aria-current="page"' or ""
  return string.format('<li><a href="%s"%s>%s</a></li>', relative(page, target), here, escape(titles[path]))
end

-- The pages of the scenario reference and the guides stand below their first page.
local function is_below(path)
  return path:match("^docs/scenario/") or (path:match("^docs/howto/") and path ~= "docs/howto/README.md")
end

local function navigation(page)
  local lines = {}
  for _, section in ipairs(contents) do
    -- Pages that are not in the contents belong to the section of their folder.
    local owner = page:match("^api/") and "Reference" or page:match("^models/") and "Gallery" or page:match("^studies/") and "Evidence"
    local items, open = {}, section[1] == owner
    for _, path in ipairs(section[2]) do
      local line = entry(page, path)
      open = open or page_of(path) == page
      items[#items + 1] = is_below(path) and line:gsub("<li>", '<li class="below">') or line
    end
    lines[#lines + 1] = string.format("<details%s><summary>%s</summary><ul>", open and " open" or "", section[1])
    lines[#lines + 1] = table.concat(items, "\n") .. "</ul></details>"
  end
  return table.concat(lines, "\n")
end

-- Links to the pages before and after this one.
local function neighbours(page)
  for i, path in ipairs(sequence) do
    if page_of(path) == page then
      local links = {}
      for _, side in ipairs({ { sequence[i - 1], "previous", "← " }, { sequence[i + 1], "next", "" } }) do
        if side[1] then
          local arrow = side[2] == "next" and " →" or ""
          links[#links + 1] = string.format('<a rel="%s" href="%s">%s%s%s</a>', side[2], relative(page, page_of(side[1])), side[3], escape(titles[side[1]]), arrow)
        end
      end
      return '<nav class="neighbours" aria-label="previous and next page">' .. table.concat(links, "\n") .. "</nav>"
    end
  end
  return ""
end

-- Search: title, section, address and text of every section of every page, and a weight.
local index = {}

local function add_to_index(page, title, section, anchor, text, weight)
  local function quoted(value)
    return '"' .. value:gsub("[%c\\\"]", { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = " ", ["\t"] = " " }):gsub("%c", " "):gsub("</", "<\\/") .. '"'
  end
  local address = anchor and (page .. "#" .. anchor) or page
  index[#index + 1] = string.format("[%s,%s,%s,%s,%g]", quoted(title), quoted(section), quoted(address), quoted(text), weight)
end

local function index_markdown(page, path, title, blocks)
  local weight = path:match("^docs/howto/") and 3 or path:match("^docs/") and 2 or path:match("^README") and 2 or 0
  local section, anchor, parts = title, nil, {}
  local function close()
    add_to_index(page, title, section, anchor, table.concat(parts, " "), weight)
  end
  for _, block in ipairs(blocks) do
    if block.t == "Header" and block.level > 1 then
      close()
      section, anchor, parts = pandoc.utils.stringify(block), block.identifier, {}
    elseif block.t ~= "Header" then
      local plain = block:walk({
        Math = function(math)
          return pandoc.Str(math.text)
        end,
      })
      parts[#parts + 1] = pandoc.write(pandoc.Pandoc({ plain }), "plain"):gsub("%-%-%-+", ""):gsub("%s+", " ")
    end
  end
  close()
end

-- Headings of the second level, where there are several.
local function outline(headings)
  if #headings < 3 then
    return ""
  end
  local lines = { '<nav class="outline" aria-label="on this page"><ul>' }
  for _, heading in ipairs(headings) do
    lines[#lines + 1] = string.format('<li><a href="#%s">%s</a></li>', heading[1], escape(heading[2]))
  end
  lines[#lines + 1] = "</ul></nav>"
  return table.concat(lines, "\n")
end

local function put_page(page, title, body, headings)
  local text = string.format(
    [[<!doctype html>
<html lang="en" data-root="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="%s">
<title>%s – Yoke</title>
<script>
const theme = (() => { try { return localStorage.getItem("yoke-theme"); } catch { return null; } })();
document.documentElement.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
</script>
</head>
<body>
<header><a class="mark" href="%s">YOKE</a><span class="title">%s</span>
<div class="search"><input id="search" type="search" placeholder="Search ( / )" aria-label="search the documentation" autocomplete="off"><div id="found" hidden></div></div>
<button type="button" onclick="turnTheme()" title="light or dark">theme</button></header>
<details class="contents"><summary>Contents</summary><nav aria-label="contents">
%s
</nav></details>
<main>
%s
%s
</main>
%s
<script src="%s"></script>
</body>
</html>
]],
    relative(page, ""),
    relative(page, "style.css"),
    escape(title),
    relative(page, "index.html"),
    page == "index.html" and "" or escape(title),
    navigation(page),
    body,
    neighbours(page),
    outline(headings or {}),
    relative(page, "site.js")
  )
  write(page, text)
end

local function markdown(path)
  return pandoc.read(read(path), "gfm+tex_math_dollars")
end

local function title_of(path)
  local title
  pandoc.walk_block(pandoc.Div(markdown(path).blocks), {
    Header = function(header)
      title = title or pandoc.utils.stringify(header)
    end,
  })
  return title or path
end

-- Comments and keys stand out; that is all that short pieces of code need.
local function coloured(text, language)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local code, comment = escape(line), ""
    local at = language ~= "text" and (code:find("^%s*#") or code:find("%s#%s"))
    if at then
      code, comment = code:sub(1, at - 1), '<span class="co">' .. code:sub(at) .. "</span>"
    end
    if language == "yaml" then
      code = code:gsub("^(%s*%-?%s*)([%w_.-]+):", '%1<span class="at">%2</span>:')
    end
    lines[#lines + 1] = code .. comment
  end
  return table.concat(lines, "\n")
end

-- A model in motion, as a page shows it: where that is not wanted, and where there is no such picture, its still one.
local function moving(page, model, width)
  local file = gallery and io.open(gallery .. "/" .. model .. ".webp", "rb")
  local still = "models/pictures/" .. model .. ".svg"
  if not file or not files[still] then
    return nil
  end
  local target = "models/pictures/" .. model .. ".webp"
  write(target, file:read("a"))
  file:close()
  resolve(page, "README.md", still)
  return string.format(
    '<picture><source media="(prefers-reduced-motion: reduce)" srcset="%s"><img src="%s" width="%d" alt="%s in motion" loading="lazy"></picture>',
    relative(page, still),
    relative(page, target),
    width,
    model
  )
end

-- A report of a model that is played in the page: a picture with a button, which site.js replaces by the report. Returns nil
-- if there is no report.
local function playable(page, model, picture)
  local file = reports and io.open(reports .. "/" .. model .. ".html", "rb")
  if not file then
    return nil
  end
  local target = "reports/" .. model .. ".html"
  write(target, file:read("a"))
  file:close()
  return string.format('<figure class="live">%s<a class="play" href="%s">Play this run</a></figure>', picture, relative(page, target))
end

local function put_markdown(path)
  local page = page_of(path)
  local title, headings = nil, {}
  local body = pandoc.walk_block(pandoc.Div(markdown(path).blocks), {
    -- A picture that links to a model becomes the report of the model.
    Para = function(para)
      local link = #para.content == 1 and para.content[1]
      local image = link and link.t == "Link" and #link.content == 1 and link.content[1]
      local model = image and image.t == "Image" and (link.title .. link.target):match("models/([%w-]+)")
      if model then
        local alt = pandoc.utils.stringify(image.caption)
        local live = playable(page, model, string.format('<img src="%s" alt="%s">', escape(image.src), escape(alt)))
        return live and pandoc.RawBlock("html", live)
      end
    end,
    Header = function(header)
      local text = pandoc.utils.stringify(header)
      title = title or text
      if header.level == 2 then
        headings[#headings + 1] = { header.identifier, text }
      end
    end,
    -- Numbers such as 1e-6 stay on a line.
    Str = function(word)
      if word.text:match("%de%-%d") then
        return pandoc.Span({ word }, pandoc.Attr("", { "number" }))
      end
    end,
    Link = function(link)
      link.target = resolve(page, path, link.target)
      return link
    end,
    Image = function(image)
      image.src = resolve(page, path, image.src)
      return image
    end,
    RawInline = function(raw)
      local model = path == "models/README.md" and raw.text:match('^<img src="pictures/([^"]*)%.svg"')
      local shown = model and moving(page, model, 160)
      if shown then
        return pandoc.RawInline("html", shown)
      end
      for source in raw.text:gmatch('src="([^"]*)"') do
        resolve(page, path, source)
      end
    end,
    RawBlock = function(raw)
      for source in raw.text:gmatch('src="([^"]*)"') do
        resolve(page, path, source)
      end
    end,
    CodeBlock = function(block)
      return pandoc.RawBlock("html", "<pre><code>" .. coloured(block.text, block.classes[1] or "") .. "</code></pre>")
    end,
    -- Wide tables scroll on their own.
    Table = function(block)
      local classes = { "table" }
      if #block.colspecs > 6 then
        classes[2] = "wide"
      end
      return pandoc.Div({ block }, pandoc.Attr("", classes))
    end,
  })
  local model = path:match("^models/([^/]+)/README%.md$")
  local shown = model and moving(page, model, 320)
  if model and not shown and files["models/pictures/" .. model .. ".svg"] then
    local still = "models/pictures/" .. model .. ".svg"
    resolve(page, "README.md", still)
    shown = string.format('<img src="%s" width="320" alt="%s">', relative(page, still), model)
  end
  if shown then
    body.content:insert(2, pandoc.RawBlock("html", playable(page, model, shown) or "<p>" .. shown .. "</p>"))
  end
  index_markdown(page, path, title or path, markdown(path).blocks)
  local html = pandoc.write(pandoc.Pandoc(body.content), "html5", { html_math_method = "mathml" })
  put_page(page, title or path, html, headings)
end

-- A file as text, a folder as a list.
local function put_source(path)
  local page = page_of(path)
  if path:match("%.svg$") or path:match("%.png$") then
    write(path, read(path))
  elseif folders[path] then
    if files[path .. "/README.md"] then
      return
    end
    local lines = { "<h1>" .. escape(path) .. "/</h1><ul>" }
    for name in pairs(files) do
      if folder_of(name) == path then
        lines[#lines + 1] = string.format('<li><a href="%s">%s</a></li>', resolve(page, path .. "/", name:sub(#path + 2)), escape(name:sub(#path + 2)))
      end
    end
    table.sort(lines)
    put_page(page, path, table.concat(lines, "\n") .. "</ul>")
  else
    put_page(page, path, "<h1>" .. escape(path) .. "</h1>\n<pre><code>" .. escape(read(path)) .. "</code></pre>")
  end
end

-- Headers --------------------------------------------------------------------------------------

-- The text of a comment without its stars.
local function comment_text(text)
  text = text:gsub("^%s*/%*+%s?", ""):gsub("%s*%*+/%s*$", ""):gsub("\n%s*%* ?", "\n")
  return text
end

-- Pieces of a header between empty lines on the top level: comment and code of each.
local function pieces_of(text)
  local pieces, lines, depth, inside = {}, {}, 0, false
  local function close()
    if #lines > 0 then
      local piece = table.concat(lines, "\n")
      local comment, rest = piece:match("^(/%*.-%*/)%s*(.*)$")
      pieces[#pieces + 1] = { comment = comment and comment_text(comment) or "", code = comment and rest or piece }
    end
    lines = {}
  end
  for line in (text .. "\n"):gmatch("(.-)\n") do
    if line == "" and depth == 0 and not inside then
      close()
    else
      lines[#lines + 1] = line
      local plain = line
      if inside and plain:find("%*/") then
        plain = plain:gsub("^.-%*/", "")
        inside = false
      end
      plain = plain:gsub("/%*.-%*/", "")
      if plain:find("/%*") then
        inside = true
        plain = plain:gsub("/%*.*$", "")
      end
      if not inside and not plain:find('extern "C"') then
        depth = depth + select(2, plain:gsub("{", "")) - select(2, plain:gsub("}", ""))
      end
    end
  end
  close()
  return pieces
end

-- The names that a declaration makes.
local function names_of(code)
  local names, plain = {}, code:gsub("/%*.-%*/", "")
  local function add(name)
    if name and name:match("^[yY][kK]_") then
      names[#names + 1] = name
    end
  end
  add(plain:match("^#define%s+([%w_]+)"))
  add(plain:match("^typedef%s+.*}%s*([%w_]+);%s*$"))
  add(plain:match("^struct%s+([%w_]+)%s*{"))
  if not plain:find("{") or plain:match("^static inline") then
    for statement in plain:gmatch("[^;]+;?") do
      add(statement:match("^%s*typedef.-([%w_]+)%s*;") or statement:match("%(%*([%w_]+)%)%("))
      add(statement:match("([%w_]+)%s*%("))
    end
  end
  for list in plain:gmatch("enum[%w_%s]*{(.-)}") do
    for name in list:gmatch("YK_[%w_]+") do
      add(name)
    end
  end
  return names
end

local function put_headers(list)
  -- Where each name is declared.
  local where, headers = {}, {}
  for _, path in ipairs(list) do
    local pieces = pieces_of(read(path))
    headers[#headers + 1] = { path = path, page = page_of(path), name = path:match("([^/]+)$"), pieces = pieces }
    for _, piece in ipairs(pieces) do
      piece.names = names_of(piece.code)
      for _, name in ipairs(piece.names) do
        where[name] = where[name] or { page = page_of(path), id = name }
      end
    end
  end

  local function linked(page, code)
    return (escape(code):gsub("[yY][kK]_[%w_]+", function(name)
      local target = where[name]
      if not target then
        return name
      end
      local at = target.page == page and "" or relative(page, target.page)
      return string.format('<a href="%s#%s">%s</a>', at, target.id, name)
    end))
  end

  for _, header in ipairs(headers) do
    local lines = { "<h1>yoke/" .. header.name .. "</h1>" }
    local headings, done = {}, {}
    for i, piece in ipairs(header.pieces) do
      local section = piece.comment:match("^(.-)%s*%-%-%-%-+$")
      local guard = piece.code:match("^#ifndef YOKE_") or piece.code:match("^#ifdef __cplusplus") or piece.code:match("^#endif") or piece.code:match("^}")
      if i == 1 then
        header.brief = piece.comment:match("^(.-[.:])%s") or piece.comment
        lines[#lines + 1] = '<pre class="essay">' .. linked(header.page, piece.comment) .. "</pre>"
      elseif section and piece.code == "" then
        local id = "section-" .. section:lower():gsub("[^%w]+", "-")
        headings[#headings + 1] = { id, section }
        lines[#lines + 1] = string.format('<h2 id="%s">%s</h2>', id, escape(section))
      elseif not guard then
        lines[#lines + 1] = '<section class="declaration">'
        for _, name in ipairs(piece.names) do
          if not done[name] and where[name].page == header.page then
            done[name] = true
            lines[#lines + 1] = string.format('<a id="%s"></a>', name)
          end
        end
        -- Paragraphs flow; what is set in columns stays as it is.
        for paragraph in (piece.comment .. "\n\n"):gmatch("(.-)\n\n+") do
          local columns = ("\n" .. paragraph):find("\n  ")
          local form = columns and '<pre class="essay">%s</pre>' or '<p class="says">%s</p>'
          if paragraph ~= "" then
            lines[#lines + 1] = string.format(form, linked(header.page, paragraph))
          end
        end
        if piece.code ~= "" then
          lines[#lines + 1] = "<pre><code>" .. linked(header.page, piece.code) .. "</code></pre>"
        end
        lines[#lines + 1] = "</section>"
      end
    end
    for _, piece in ipairs(header.pieces) do
      for _, name in ipairs(piece.names) do
        add_to_index(header.page, name, "yoke/" .. header.name, name, piece.comment, 0)
      end
    end
    put_page(header.page, "yoke/" .. header.name, table.concat(lines, "\n"), headings)
  end

  -- All headers, and all functions and types by name.
  local lines = { "<h1>C interface</h1>", '<p>The public headers, made from their comments; <a href="../docs/c-api.html">the guide</a> shows how they are used.</p>', '<div class="table"><table>' }
  for _, header in ipairs(headers) do
    lines[#lines + 1] = string.format('<tr><td><a href="%s">yoke/%s</a></td><td>%s</td></tr>', header.page:match("[^/]+$"), header.name, escape(header.brief or ""))
  end
  lines[#lines + 1] = "</table></div>"
  local names = {}
  for name in pairs(where) do
    if name:match("^yk_") then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  lines[#lines + 1] = '<h2 id="names">By name</h2><ul class="names">'
  for _, name in ipairs(names) do
    lines[#lines + 1] = string.format('<li><a href="%s#%s">%s</a></li>', where[name].page:match("[^/]+$"), name, name)
  end
  lines[#lines + 1] = "</ul>"
  put_page("api/index.html", "C interface", table.concat(lines, "\n"))
end

-- All of it ------------------------------------------------------------------------------------

-- The colours are those of the viewer, so that a report and the site look alike.
local function put_style()
  local viewer = read("viewer/src/style.css")
  local light, dark = viewer:match("(:root {.-\n})"), viewer:match('(:root%[data%-theme="dark"%] {.-\n})')
  assert(light and dark, "viewer/src/style.css has no colours")
  write("site.js", read("docs/site/site.js"))
  write("style.css", light .. "\n" .. dark .. "\n" .. read("docs/site/style.css"))
end

function Pandoc()
  local paths = {}
  for path in io.popen("git ls-files --cached --others --exclude-standard"):lines() do
    paths[#paths + 1] = path
  end
  for path in io.popen("cd '" .. (made or "/nonexistent") .. "' 2>/dev/null && find . -type f"):lines() do
    path = path:sub(3)
    paths[#paths + 1] = path
    if path:match("%.html$") then
      write(path, read(path))
    end
  end
  for _, path in ipairs(paths) do
    files[path] = true
    local folder = folder_of(path)
    while folder ~= "" do
      folders[folder] = true
      folder = folder_of(folder)
    end
  end

  -- Pages that are made may be missing.
  for _, section in ipairs(contents) do
    for i = #section[2], 1, -1 do
      local path = section[2][i]
      if not files[path] and not folders[path] and (path:match("^examples/notebooks/") or path == "docs/python-api.md") then
        table.remove(section[2], i)
      end
    end
  end

  -- Pages that stand below another one, in its order of links.
  local function insert_below(section, first)
    for at, path in ipairs(section) do
      if path == first then
        for link in read(first):gmatch("%]%(([%w_/-]+%.md)%)") do
          local below = normal(folder_of(first) .. "/" .. link)
          if is_below(below) then
            at = at + 1
            table.insert(section, at, below)
          end
        end
        return
      end
    end
  end
  local guides = contents[3][2]
  insert_below(guides, "docs/howto/README.md")
  insert_below(contents[5][2], "docs/scenario.md")

  local listed = {}
  for _, section in ipairs(contents) do
    for _, path in ipairs(section[2]) do
      listed[path] = true
    end
  end
  local unlisted = {}
  for path in pairs(files) do
    if (path:match("^docs/[^/]+%.md$") or path:match("^docs/howto/[^/]+%.md$")) and not listed[path] then
      unlisted[#unlisted + 1] = path
    end
  end
  table.sort(unlisted)
  for _, path in ipairs(unlisted) do
    guides[#guides + 1] = path
  end
  for _, section in ipairs(contents) do
    for _, path in ipairs(section[2]) do
      titles[path] = path == "include/yoke" and "C interface" or title_of(path)
      sequence[#sequence + 1] = path
    end
  end

  local pages, headers = {}, {}
  for path in pairs(files) do
    if path:match("%.md$") and not path:match("page%.md$") then
      pages[#pages + 1] = path
    elseif path:match("^include/yoke/.*%.h$") then
      headers[#headers + 1] = path
    end
  end
  table.sort(pages)
  table.sort(headers)

  put_style()
  put_headers(headers)
  for _, path in ipairs(pages) do
    put_markdown(path)
  end
  while #queue > 0 do
    put_source(table.remove(queue))
  end
  write("search-index.js", "window.searchIndex = [\n" .. table.concat(index, ",\n") .. "\n];\n")
  io.stderr:write(string.format("site: %d pages of Markdown, %d headers in %s\n", #pages, #headers, out))
  os.exit(failures == 0 and 0 or 1)
end
