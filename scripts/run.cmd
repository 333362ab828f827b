@echo off
rem Sets Omoide up if need be and starts it: "scripts\run" serves, "scripts\run doctor" (talk, say, ...) runs that command.
setlocal
set "PYTHONHOME="
set "PYTHONPATH="
set "ROOT=%~dp0.."
set "READY=%ROOT%\.venv\Scripts\python.exe"
set "BUILDER=%~dp0build_environment.py"

if exist "%READY%" (
    "%READY%" "%BUILDER%" --check 2>nul && goto start
)

rem The launcher first; "python" may be the stub that only opens the shop.
if not defined PYTHON for %%V in (3.13 3.12 3.11 3) do (
    if not defined FOUND py -%%V -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>nul && set "FOUND=py -%%V"
)
if not defined FOUND if not defined PYTHON set "PYTHON=python"
if not defined FOUND (
    "%PYTHON%" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>nul && set FOUND="%PYTHON%"
)
if not defined FOUND (
    echo Omoide needs Python 3.11 or newer. Install it from python.org with its launcher "py", or name one: 1>&2
    echo set PYTHON=C:\path\to\python.exe 1>&2
    exit /b 1
)
%FOUND% "%BUILDER%" 1>&2 || exit /b 1

:start
rem Wherever it is called from, configuration and data are those of this folder, unless others are named.
if not defined OMOIDE_CONFIG if exist "%ROOT%\config.yaml" set "OMOIDE_CONFIG=%ROOT%\config.yaml"
if not defined OMOIDE_DATA set "OMOIDE_DATA=%ROOT%\var"
if "%~1"=="" (
    "%READY%" -P -m server serve
) else (
    "%READY%" -P -m server %*
)
exit /b %ERRORLEVEL%
